// SPDX-License-Identifier: Apache-2.0
// The Atom of the model checker: it has the size and the interface of std::atomic, and hands every access to the
// machine, which decides who goes on, who dies, and which of two values a weak load returns.
#pragma once

#include <atomic>
#include <cstdint>

#include "tests/model/machine.hpp"

namespace feedring::model {

template <class T>
class Atom {
 public:
  Atom() = default;
  Atom(T value) : value_(value) {}  // NOLINT(google-explicit-constructor): std::atomic's

  [[nodiscard]] T load(std::memory_order order) const { return static_cast<T>(machine().load(at(), order)); }
  void store(T value, std::memory_order order) { machine().store(at(), static_cast<std::uint64_t>(value), order); }
  /// What a read-modify-write returns; only who looks at it has seen it.
  struct Before {
    std::uint64_t value;
    operator T() const {  // NOLINT(google-explicit-constructor): std::atomic's
      machine().used(value);
      return static_cast<T>(value);
    }
  };
  Before fetch_add(T value, std::memory_order order) { return update(Update::kAdd, value, order); }
  Before fetch_or(T value, std::memory_order order) { return update(Update::kOr, value, order); }
  Before fetch_and(T value, std::memory_order order) { return update(Update::kAnd, value, order); }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure) {
    std::uint64_t seen = static_cast<std::uint64_t>(expected);
    const bool done = machine().compare_exchange(at(), seen, static_cast<std::uint64_t>(desired), success, failure);
    expected = static_cast<T>(seen);
    return done;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) {
    return compare_exchange_strong(expected, desired, success, failure);
  }

  [[nodiscard]] Place at() const { return {const_cast<T*>(&value_), sizeof(T)}; }

 private:
  Before update(Update what, T value, std::memory_order order) {
    return {machine().update(at(), what, static_cast<std::uint64_t>(value), order)};
  }
  T value_{};
};

// What EventCount finds in place of the system calls: without time-outs and without spurious wake-ups, so that a lost
// wake-up is a deadlock.
inline void futex_wait(const Atom<std::uint32_t>* word, std::uint32_t expected, std::uint64_t /*slice_ns*/) {
  machine().sleep(word->at(), expected);
}
inline void futex_wake(const Atom<std::uint32_t>* word, std::uint32_t count) { machine().wake(word->at(), count); }

}  // namespace feedring::model
