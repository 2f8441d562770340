// SPDX-License-Identifier: Apache-2.0
// The fault grid, the supervisor: once it is dead, every rank has an error with a name within two seconds; stopped for
// however long and continued, it harms nobody.
#include <gmock/gmock.h>

#include "tests/fault/grid.hpp"

namespace feedring::test {
namespace {

constexpr seconds kToldWithin{2};

class GridOfSupervisors : public GridScene {
 protected:
  /// What makes the supervisor pass the point.
  [[nodiscard]] std::string trigger(int number) const {
    switch (GetParam().way) {
      case Way::kDeath: return "producer:finish, before a:5:kill:" + marker(number) + ';';
      case Way::kHang: return "producer:finish, before a:5:hang:" + marker(number) + ';';
      case Way::kNoWork: return "producer:claim, after its step:1:abort;";
      default: return "";
    }
  }
  /// Deaths of producers that the trigger alone brings.
  [[nodiscard]] int deaths() const { return GetParam().way == Way::kDeath || GetParam().way == Way::kHang ? 1 : 0; }

  /// Nobody works until both ranks are there: one that still looks for a pool waits for it up to its attach deadline.
  static void let_work_once_attached(const std::vector<pid_t>& producers, const std::vector<Program*>& ranks) {
    for (const Program* rank : ranks) {
      EXPECT_TRUE(eventually([&] { return !events(*rank, "attached").empty(); })) << rank->err();
    }
    for (const pid_t producer : producers) ::kill(producer, SIGCONT);
  }

  /// Without a supervisor ranks use what is ready, and then say that the pool died, or could not be reached.
  static void expect_told(Program& rank, Clock::time_point since) {
    const int code = rank.wait();
    EXPECT_LT(Clock::now() - since, kToldWithin) << rank.err();
    EXPECT_EQ(code, 72) << rank.err();
    EXPECT_THAT(rank.err(), testing::StartsWith("trainer: "));
  }
};

TEST_P(GridOfSupervisors, HarmsNobodyOrIsNamedToAll) {
  const Cell& cell = GetParam();
  static_cast<void>(undisturbed());
  int number = 0;
  for (const char action : cell.actions) {
    SCOPED_TRACE(action_word(action));
    const pid_t supervisor = start(trigger(number) + fault(cell, action, number + 1));
    const std::vector<pid_t> producers = cell.way == Way::kPlain ? std::vector<pid_t>() : hold_producers(supervisor);
    // Long enough that both are at work when it happens, whichever way.
    const std::vector<std::string> more = {"--pause-ms", cell.way == Way::kHang ? "150" : "20", "--deadline",
                                           action == 'h' ? "1" : "60"};
    Program zero = rank(0, "", "", more);
    const bool at_attach = cell.way == Way::kPlain;
    if (at_attach) {
      ASSERT_TRUE(eventually([&] { return !batches(zero).empty(); })) << zero.err();
    }
    Program one = rank(1, "", "", more);
    if (!at_attach) let_work_once_attached(producers, {&zero, &one});
    const pid_t who = acted(number + 1);
    EXPECT_EQ(who, supervisor);
    const auto since = Clock::now();
    number += 2;
    if (action == 's') {
      stop_past_the_deadline(who);
      expect_undisturbed(zero, one);
      EXPECT_TRUE(eventually([&] { return status()["producers_replaced"] == deaths(); })) << status().dump();
      stop_pool();
    } else if (action == 'h') {
      // It lives, so that only the deadline of a rank can tell: the one whose task the dead producer left.
      int told = 0;
      for (Program* rank : {&zero, &one}) {
        const int code = rank->wait();
        EXPECT_THAT(code, testing::AnyOf(0, 73)) << rank->err();
        if (code == 73) {
          EXPECT_THAT(rank->err(), testing::HasSubstr("did not come within 1 s; slot"));
        }
        told += code == 73 ? 1 : 0;
      }
      // Before the sweep the task that the dead one held is nobody's to do.
      if (cell.point == "death, before the sweep") {
        EXPECT_GE(told, 1);
      }
      ::kill(supervisor, SIGKILL);
    } else {
      expect_told(zero, since);
      expect_told(one, since);
    }
    EXPECT_TRUE(eventually([&] { return pool_is_gone(); }, kGoneWithin));
    if (HasFailure()) return;
    cover(cell, action);
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, GridOfSupervisors, testing::ValuesIn(kSupervisorCells), cell_name);

}  // namespace
}  // namespace feedring::test
