// SPDX-License-Identifier: Apache-2.0
// Sleeping on a 32 bit word of shared memory. Not std::atomic::wait: that uses private futexes, which another process
// never wakes.
#pragma once

#include <cstdint>

namespace feedring {

/// Sleeps while *word == expected, for at most `slice_ns`. Wakes also for no reason: the caller tests again.
void futex_wait(const void* word, std::uint32_t expected, std::uint64_t slice_ns) noexcept;

/// Wakes up to `count` sleepers on `word` in any process.
void futex_wake(const void* word, std::uint32_t count) noexcept;

/// Futex system calls that this thread made; the counters in shared memory are fed from here.
std::uint64_t futex_calls_of_this_thread() noexcept;

/// Between two looks of a loop that spins on a word which another core is about to write: without it the looks take the
/// line away from the writer, and a hand-off costs up to half as much again.
inline void spin_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm("yield" ::: "memory");
#endif
}

/// CLOCK_MONOTONIC in nanoseconds: the clock of every deadline.
std::uint64_t monotonic_ns() noexcept;

}  // namespace feedring
