// SPDX-License-Identifier: Apache-2.0
// What ring_bench.cpp measures with: a second process, a clock that ignores interruptions, and known queues as
// landmarks.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "runtime/futex.hpp"

namespace feedring::bench {

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Pins the caller to the index-th of the `all` cores, counted round.
inline void pin(const cpu_set_t& all, int index) {
  std::size_t core = 0;
  for (index %= CPU_COUNT(&all); !CPU_ISSET(core, &all) || index-- != 0; ++core) {
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
}
inline cpu_set_t allowed() {
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  return all;
}

/// Looks until done() is true, as everybody here waits, so that the landmarks and the ring poll alike.
template <class Done>
void spin_until(Done&& done) {
  while (!done()) spin_pause();
}

/// A child process that runs `body`; the destructor waits for its end.
class Child {
 public:
  template <class Body>
  explicit Child(const Body& body) : pid_(::fork()) {
    if (pid_ < 0) std::abort();
    if (pid_ != 0) return;
    body();
    ::_exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

/// A T in memory that children share, to the program's end.
template <class T>
T& shared() {
  constexpr int kFlags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
  return *new (::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, kFlags, -1, 0)) T();
}

inline constexpr std::uint32_t kChunks = 41;
inline constexpr std::uint32_t kTrips = 500;
inline constexpr std::uint32_t kAllTrips = (kChunks + 1) * kTrips;

/// Nanoseconds of one trip(): the median of many short runs, so that an interruption spoils one of them only.
template <class Trip>
double trip_ns(Trip&& trip) {
  for (std::uint32_t i = 0; i < kTrips; ++i) trip();
  std::vector<double> chunks;
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    const std::uint64_t start = monotonic_ns();
    for (std::uint32_t i = 0; i < kTrips; ++i) trip();
    chunks.push_back(static_cast<double>(monotonic_ns() - start) / kTrips);
  }
  return median(chunks);
}

/// Rigtorp's SPSCQueue in short: each side keeps a copy of the other's index, and looks at that one only when it must.
class RigtorpStyleQueue {
 public:
  bool push(std::uint64_t value) {
    const std::uint64_t at = head_.load(std::memory_order_relaxed);
    if (at - seen_tail_ == items_.size() && at - (seen_tail_ = tail_.load(std::memory_order_acquire)) == items_.size())
      return false;
    items_[at % items_.size()] = value;
    head_.store(at + 1, std::memory_order_release);
    return true;
  }
  bool pop(std::uint64_t& value) {
    const std::uint64_t at = tail_.load(std::memory_order_relaxed);
    if (at == seen_head_ && at == (seen_head_ = head_.load(std::memory_order_acquire))) return false;
    value = items_[at % items_.size()];
    tail_.store(at + 1, std::memory_order_release);
    return true;
  }

 private:
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::uint64_t seen_tail_ = 0;
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::uint64_t seen_head_ = 0;
  alignas(64) std::array<std::uint64_t, 64> items_{};
};

}  // namespace feedring::bench
