// SPDX-License-Identifier: Apache-2.0
// THE FAULT GRID: which role meets which fault at which named point (runtime/fault_point.hpp), on real processes. Each
// cell ends with every sample delivered exactly once, in order, as in an undisturbed run, or with one named error on
// all ranks.
#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/fault_point.hpp"
#include "tests/fault/scene.hpp"

namespace feedring::test {

/// What has to happen for a role to pass a point.
enum class Way : std::uint8_t {
  kPlain,      ///< two ranks train
  kIdle,       ///< the same; whoever passes has nothing in hand, so that nobody misses it
  kStart,      ///< the same; whoever passes has not begun to work
  kBadFile,    ///< a picture cannot be decoded
  kStore,      ///< decoded pictures are kept
  kViews,      ///< each picture has several views
  kReadAhead,  ///< storage is slow
  kTakeOver,   ///< a rank comes back after its predecessor died with a batch in hand
  kCancel,     ///< a rank comes back and does not want what its predecessor offered
  kSweep,      ///< a rank comes back after its predecessor died while it cancelled
  kDeath,      ///< a producer dies
  kHang,       ///< a producer hangs
  kNoWork,     ///< no producer gets anything done
};

struct Cell {
  std::string_view role;
  std::string_view point;
  std::string_view actions;  ///< k kill -9, s SIGSTOP past the deadline and SIGCONT, a abort, h hang
  std::uint32_t nth = 1;     ///< passage that meets it
  Way way = Way::kPlain;
};

// clang-format off
inline constexpr Cell kProducerCells[] = {
    {"producer", "start, with the pool",          "ksah", 1, Way::kStart},
    {"producer", "start, with a ring",            "ksah", 2, Way::kStart},
    {"producer", "claim, before its step",        "ksah", 3},
    {"producer", "claim, after its step",         "ksah", 3},
    {"producer", "in hand, half written",         "ka",   3},
    {"producer", "read, before the file",         "ksah", 3},
    {"producer", "read, instead of a piece",      "ka",   3},
    {"producer", "read ahead, before it is done", "kh",   2, Way::kReadAhead},
    {"producer", "decode, before the picture",    "ksah", 3},
    {"producer", "decode, between two views",     "ksah", 3, Way::kViews},
    {"producer", "decode, after the picture",     "ka",   3},
    {"producer", "store, with an entry claimed",  "ksah", 3, Way::kStore},
    {"producer", "store, before an entry is published", "ksah", 3, Way::kStore},
    {"producer", "store, after an entry is published", "ka", 3, Way::kStore},
    {"producer", "seek index, with an entry claimed", "ksah", 3},
    {"producer", "seek index, before it is published", "ksah", 3},
    {"producer", "seek index, after it is published", "ka", 3},
    {"producer", "row, within its columns",       "ksah", 3},
    {"producer", "failure, before its report",    "k",    1, Way::kBadFile},
    {"producer", "failure, after its report",     "k",    1, Way::kBadFile},
    {"producer", "finish, before a",              "ksah", 3},
    {"producer", "finish, between a and b",       "ksah", 3},
    {"producer", "finish, after b",               "ksah", 3},
    {"producer", "sleep, between W1 and W2",      "ksah", 2, Way::kIdle},
    {"producer", "sleep, after the scan",         "ksah", 2, Way::kIdle},
    {"producer", "sleep, before the bit goes",    "ksah", 2, Way::kIdle},
    // Late enough that the producer's other thread, which wakes the work loop for a ring that comes, is done: it has
    // nothing in hand by which a hang would be seen.
    {"producer", "wake, before W3",               "ka",   20},
    {"producer", "wake, between W3 and W4",       "ksah", 20},
    {"producer", "wake, after W4",                "ka",   20},
};
inline constexpr Cell kRankCells[] = {
    {"rank", "attach, with a connection",  "ksah"},
    {"rank", "attach, after the request",  "ksah"},
    {"rank", "attach, with the answer",    "ksah"},
    {"rank", "attach, with the memory",    "ksah"},
    {"rank", "offer, before the ticket",   "ka",   2},
    {"rank", "offer, within the ticket",   "ksah", 5},
    {"rank", "offer, before the word",     "ka",   5},
    {"rank", "offer, after the word",      "ksah", 5},
    {"rank", "lease, before its step",     "ka",   3},
    {"rank", "lease, after its step",      "ksah", 3},
    {"rank", "release, before its step",   "ksah", 3},
    {"rank", "release, after its step",    "ka",   3},
    {"rank", "sleep, between W1 and W2",   "ksah"},
    {"rank", "sleep, after the scan",      "ksah"},
    {"rank", "sleep, before the bit goes", "ka"},
    {"rank", "wake, before W3",            "ka",   2},
    {"rank", "wake, between W3 and W4",    "ksah", 2},
    {"rank", "wake, after W4",             "ka",   2},
    {"rank", "release, before its step",   "k",    1, Way::kTakeOver},
    {"rank", "take over, after the sweep", "ksah", 1, Way::kTakeOver},
    {"rank", "plan, before it is raised",  "ksah", 1, Way::kCancel},
    {"rank", "plan, after it is raised",   "ksah", 1, Way::kCancel},
    {"rank", "claim, before its step",     "ka",   2, Way::kCancel},
    {"rank", "claim, after its step",      "ksah", 2, Way::kCancel},
    {"rank", "finish, before a",           "ka",   2, Way::kCancel},
    {"rank", "finish, between a and b",    "ksah", 2, Way::kCancel},
    {"rank", "finish, after b",            "ka",   2, Way::kCancel},
    {"rank", "drop, before its step",      "ksah", 2, Way::kCancel},
    {"rank", "drop, after its step",       "ka",   2, Way::kCancel},
    {"rank", "sweep, before a task",       "ka",   1, Way::kSweep},
    {"rank", "sweep, after a task",        "ka",   1, Way::kSweep},
};
inline constexpr Cell kSupervisorCells[] = {
    {"supervisor", "answer, before a rank gets it",          "ksa",  2},
    {"supervisor", "answer, after a rank got it",            "ksa",  2},
    {"supervisor", "death, before the sweep",                "ksah", 1, Way::kDeath},
    {"supervisor", "sweep, before a task",                   "ksa",  1, Way::kDeath},
    {"supervisor", "sweep, after a task",                    "ksah", 1, Way::kDeath},
    {"supervisor", "death, before the wake-ups",             "ksa",  1, Way::kDeath},
    {"supervisor", "wake, before W3",                        "k",    1, Way::kDeath},
    {"supervisor", "wake, between W3 and W4",                "ks",   1, Way::kDeath},
    {"supervisor", "wake, after W4",                         "k",    1, Way::kDeath},
    {"supervisor", "death, before the new start",            "ksah", 1, Way::kDeath},
    {"supervisor", "start, before the descriptors",          "ksah", 3, Way::kDeath},
    {"supervisor", "start, between two descriptors",         "ksah", 12, Way::kDeath},
    {"supervisor", "hang, before the kill",                  "ks",   1, Way::kHang},
    {"supervisor", "broken, between the text and the word",  "ka",   1, Way::kNoWork},
};
// clang-format on

/// The word of FEEDRING_FAULT for a letter of Cell::actions.
[[nodiscard]] std::string action_word(char letter);
[[nodiscard]] std::string cell_name(const testing::TestParamInfo<Cell>& info);
/// Notes that a cell ended as it should; the table of them is printed when the program ends.
void cover(const Cell& cell, char action);
/// Rows of points, columns of role and action.
[[nodiscard]] std::string grid_table(const std::map<std::pair<std::string, std::string>, std::string>& covered);
/// So that a failed test shows its cell.
void PrintTo(const Cell& cell, std::ostream* out);
/// All cells, as they are planned: {point, role} -> actions.
[[nodiscard]] std::map<std::pair<std::string, std::string>, std::string> planned_grid();

/// Two ranks of a pool with two producers, and what they get where nothing happens.
class GridScene : public Scene, public testing::WithParamInterface<Cell> {
 protected:
  static constexpr int kEpochs = 2;
  using Batches = std::vector<nlohmann::json>;

  void SetUp() override;

  /// The file that an act leaves; a new one for each number.
  [[nodiscard]] std::string marker(int number) const;
  /// The pid of who acted, once it has: 0 where nobody does.
  [[nodiscard]] pid_t acted(int number) const;
  /// An entry of FEEDRING_FAULT.
  [[nodiscard]] std::string fault(const Cell& cell, char action, int number) const;
  /// The pool, with faults in its environment.
  pid_t start(const std::string& faults = "");
  /// Rank `rank` of two, for what is left from `state` on ("": from the beginning).
  [[nodiscard]] Program rank(int rank, const std::string& state = "", const std::string& faults = "",
                             const std::vector<std::string>& more = {"--pause-ms", "2"}) const;
  /// The batches that a rank has said, in their order.
  static Batches batches(const Program& rank);
  /// The state after the last of them; `before` where there is none.
  static std::string last_state(const Batches& batches, const std::string& before = "");
  /// The batches of both ranks of an undisturbed run.
  [[nodiscard]] const std::vector<Batches>& undisturbed();
  /// Stops both producers and returns them.
  static std::vector<pid_t> hold_producers(pid_t supervisor);
  /// Waits, from a stop on, longer than any deadline of the pool, and lets go on whoever still lives.
  static void stop_past_the_deadline(pid_t pid, bool it_dies_of_it = false);
  /// Fails unless both ranks ended well and delivered what an undisturbed run delivers.
  void expect_undisturbed(Program& zero, Program& one);
  /// Fails where a slot stays half done: with its ranks gone, the producers fill whatever is offered.
  void expect_no_slot_stuck() const;

 private:
  std::string config_;
  std::vector<Batches> undisturbed_;
};

}  // namespace feedring::test
