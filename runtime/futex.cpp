// SPDX-License-Identifier: Apache-2.0
#include "runtime/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace feedring {
namespace {
thread_local std::uint64_t calls = 0;
}  // namespace

void futex_wait(const void* word, std::uint32_t expected, std::uint64_t slice_ns) noexcept {
  ++calls;
  const timespec slice{static_cast<time_t>(slice_ns / 1'000'000'000), static_cast<long>(slice_ns % 1'000'000'000)};
  ::syscall(SYS_futex, word, FUTEX_WAIT, expected, &slice, nullptr, 0);
}

void futex_wake(const void* word, std::uint32_t count) noexcept {
  ++calls;
  ::syscall(SYS_futex, word, FUTEX_WAKE, count, nullptr, nullptr, 0);
}

std::uint64_t futex_calls_of_this_thread() noexcept { return calls; }

std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace feedring
