// SPDX-License-Identifier: Apache-2.0
// Waiting without a lock: an event count in shared memory. No wake-up is lost, because of four seq_cst accesses:
//
//   waker                                      sleeper
//   change something                           W1: set its bit in waiters
//   W3: add 1 to the sequence                  W2: read the sequence -> s
//   W4: read waiters; wake if any is set       scan everything; nothing -> futex-wait while sequence == s
//
// Otherwise: the sleeper finds nothing, the waker sees no waiter, and the sleeper sleeps on a finished change. In the
// single order of the four, either W2 comes after W3 (then the scan sees the change: W3 releases, W2 acquires), or W1
// comes before W4 (then the waker sees the bit and wakes; a futex-wait that starts later finds another sequence).
//
// A sleeper that dies leaves its bit; forget() clears it. A stale bit costs a system call and loses nothing.
#pragma once

#include "runtime/contract.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/futex.hpp"

namespace feedring {

/// Longest sleep without testing again: a peer may die between its change and its wake.
inline constexpr std::uint64_t kSleepSliceNs = 100'000'000;

template <template <class> class Atom = std::atomic>
class EventCount {
 public:
  explicit EventCount(contract::Event<Atom>& event) noexcept : event_(&event) {}

  /// After a change that one sleeper can use; it wakes the next one if work is left.
  void notify_one() noexcept { notify(1); }
  /// After a death or an end: everybody looks again.
  void notify_all() noexcept { notify(contract::kMaxProducers); }

  /// Sleeps at most `slice_ns` unless scan() returns true; returns what the last scan said. `sleeper` < kMaxProducers,
  /// one caller each.
  template <class Scan>
  bool wait(std::uint32_t sleeper, std::uint64_t slice_ns, Scan&& scan) {
    const std::uint64_t bit = std::uint64_t{1} << (sleeper % 64);
    event_->waiters[sleeper / 64].fetch_or(bit, std::memory_order_seq_cst);  // W1
    fault_point_on<Atom>("sleep, between W1 and W2");
    const std::uint32_t seen = event_->sequence.load(std::memory_order_seq_cst);  // W2
    const bool found = scan();
    fault_point_on<Atom>("sleep, after the scan");
    if (!found) futex_wait(&event_->sequence, seen, slice_ns);
    fault_point_on<Atom>("sleep, before the bit goes");
    forget(sleeper);
    return found;
  }

  /// Takes a sleeper off the waiters; for itself, and for one whose death is confirmed.
  void forget(std::uint32_t sleeper) noexcept {
    event_->waiters[sleeper / 64].fetch_and(~(std::uint64_t{1} << (sleeper % 64)), std::memory_order_relaxed);
  }

 private:
  void notify(std::uint32_t count) noexcept {
    fault_point_on<Atom>("wake, before W3");
    event_->sequence.fetch_add(1, std::memory_order_seq_cst);  // W3
    fault_point_on<Atom>("wake, between W3 and W4");
    std::uint64_t any = 0;
    for (const auto& word : event_->waiters) any |= word.load(std::memory_order_seq_cst);  // W4
    fault_point_on<Atom>("wake, after W4");
    if (any != 0) futex_wake(&event_->sequence, count);
  }

  contract::Event<Atom>* event_;
};

}  // namespace feedring
