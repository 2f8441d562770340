// SPDX-License-Identifier: Apache-2.0
// Named places at which a test makes a process die, stop, hang, or meet an error. A build without FEEDRING_FAULT_POINTS
// has none of this: each call is an empty constexpr function, and no name reaches the binary.
//
//   FEEDRING_FAULT = ROLE:POINT[@DETAIL]:NTH:ACTION[:MARKER] [; another]
//
//   ROLE     producer, rank or supervisor, which a process is by the name of its program
//   POINT    one of kFaultPoints; with @DETAIL only where that is what the process has in hand (a file's path)
//   NTH      the how manyeth passage of this process acts; 0: every one
//   ACTION   kill, stop, abort, hang (this thread, for ever), skip, or an error: EIO, ESTALE, EAGAIN
//   MARKER   a file that the act makes: once it exists nobody acts again. Without it a successor meets the same fate
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace feedring {

/// All of them; the fault grid (tests/fault/grid.hpp) demands a cell for each.
inline constexpr std::string_view kFaultPoints[] = {
    // the moves of ring.hpp
    "claim, before its step",
    "claim, after its step",
    "finish, before a",
    "finish, between a and b",
    "finish, after b",
    "offer, before the ticket",
    "offer, within the ticket",
    "offer, before the word",
    "offer, after the word",
    "lease, before its step",
    "lease, after its step",
    "release, before its step",
    "release, after its step",
    "drop, before its step",
    "drop, after its step",
    "plan, before it is raised",
    "plan, after it is raised",
    "take over, after the sweep",
    "sweep, before a task",
    "sweep, after a task",
    // event_count.hpp
    "sleep, between W1 and W2",
    "sleep, after the scan",
    "sleep, before the bit goes",
    "wake, before W3",
    "wake, between W3 and W4",
    "wake, after W4",
    // a producer
    "start, with the pool",
    "start, with a ring",
    "in hand, half written",
    "read, before the file",
    "read, instead of a piece",
    "read ahead, before it is done",
    "decode, before the picture",
    "decode, between two views",
    "decode, after the picture",
    "store, with an entry claimed",
    "store, before an entry is published",
    "store, after an entry is published",
    "seek index, with an entry claimed",
    "seek index, before it is published",
    "seek index, after it is published",
    "row, within its columns",
    "failure, before its report",
    "failure, after its report",
    // a rank
    "attach, with a connection",
    "attach, after the request",
    "attach, with the answer",
    "attach, with the memory",
    // the supervisor
    "answer, before a rank gets it",
    "answer, after a rank got it",
    "start, before the descriptors",
    "start, between two descriptors",
    "death, before the sweep",
    "death, before the wake-ups",
    "death, before the new start",
    "hang, before the kill",
    "broken, between the text and the word",
};
static_assert(std::size(kFaultPoints) <= 64, "a point is a bit of the mask of those that somebody asked for");

/// A name of the table, looked up while compiling.
class FaultPoint {
 public:
  consteval FaultPoint(const char* name) {  // NOLINT(google-explicit-constructor): so that a call reads as a sentence
    while (index_ < std::size(kFaultPoints) && kFaultPoints[index_] != name) ++index_;
    if (index_ == std::size(kFaultPoints)) throw "no fault point has this name";
  }
  [[nodiscard]] constexpr std::size_t index() const noexcept { return index_; }

 private:
  std::size_t index_ = 0;
};

#ifdef FEEDRING_FAULT_POINTS

namespace fault {
/// Bit i: somebody asked for kFaultPoints[i] in this process.
extern std::atomic<std::uint64_t> asked;
int pass(std::size_t point, std::string_view detail) noexcept;
}  // namespace fault

/// What FEEDRING_FAULT says about this place. Returns the errno that the place is to behave as if it had met; 0: go on.
inline int fault_point(FaultPoint here, std::string_view detail = {}) noexcept {
  if ((fault::asked.load(std::memory_order_relaxed) >> here.index() & 1) == 0) [[likely]]
    return 0;
  return fault::pass(here.index(), detail);
}

#else

constexpr int fault_point(FaultPoint, std::string_view = {}) noexcept { return 0; }

#endif

/// The same in code that a scheduler of the tests runs with atomics of its own, where it does nothing.
template <template <class> class Atom>
constexpr void fault_point_on([[maybe_unused]] FaultPoint here) noexcept {
  if constexpr (std::is_same_v<Atom<int>, std::atomic<int>>) fault_point(here);
}

}  // namespace feedring
