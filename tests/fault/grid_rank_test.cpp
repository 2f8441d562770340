// SPDX-License-Identifier: Apache-2.0
// The fault grid, ranks: whatever happens to one of them, the other one's batches come as if nothing had happened, and
// its successor goes on from the last batch that it had, so that together they had each exactly once.
#include <gmock/gmock.h>

#include "tests/fault/grid.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;

constexpr std::size_t kSought = 4;  // batches of an undisturbed run after which a rank that seeks goes on

class GridOfRanks : public GridScene {
 protected:
  /// What the rank's first processes are to meet, and then the one that the cell is about.
  [[nodiscard]] std::vector<std::string> lives(char action, int number) const {
    const std::string last = fault(GetParam(), action, number);
    switch (GetParam().way) {
      case Way::kTakeOver: return {"rank:lease, after its step:3:kill", last};
      case Way::kSweep: return {"rank:claim, after its step:2:kill", last};
      default: return {last};
    }
  }
  [[nodiscard]] bool seeks() const { return GetParam().way == Way::kCancel || GetParam().way == Way::kSweep; }

  /// Fast producers would never let it sleep: they stand still until it was met.
  [[nodiscard]] static bool sleeps() { return std::string_view(GetParam().point).starts_with("sleep"); }

  /// Producers stand still, and a process of rank 0 has died that offered every slot: where the next one goes on, none
  /// of them is wanted. Returns the producers.
  [[nodiscard]] std::vector<pid_t> leave_unwanted_offers(pid_t supervisor) const {
    const std::vector<pid_t> producers = hold_producers(supervisor);
    Program first = rank(0);
    EXPECT_TRUE(eventually([&] { return status()["rings"][0]["slots"]["offered"] == 3; })) << first.err();
    first.kill(SIGKILL);
    first.wait();
    return producers;
  }

  /// One life of rank 0 up to its end by the fault that it meets; true where it went on and ended by itself.
  [[nodiscard]] bool live(Program& process, char action, int number, bool last) {
    if (last && (action == 's' || action == 'h')) {
      const pid_t who = acted(number);
      if (action == 's' && who != 0) {
        stop_past_the_deadline(who);
        return true;
      }
      // Nobody misses a rank that hangs: its launcher may, or the rank at the other end of a collective call.
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      process.kill(SIGKILL);
    }
    EXPECT_EQ(process.wait(), last && action == 'a' ? 134 : 137) << process.err();
    return false;
  }
};

TEST_P(GridOfRanks, GoesOnInTheNextProcessAsIfNothingHadHappened) {
  const Cell& cell = GetParam();
  const std::vector<Batches>& expected = undisturbed();
  int number = 0;
  for (const char action : cell.actions) {
    SCOPED_TRACE(action_word(action));
    const pid_t supervisor = start();
    const std::vector<pid_t> stopped = seeks()    ? leave_unwanted_offers(supervisor)
                                       : sleeps() ? hold_producers(supervisor)
                                                  : std::vector<pid_t>();
    std::string state = seeks() ? expected[0][kSought - 1]["state"].get<std::string>() : "";
    Batches had(expected[0].begin(), expected[0].begin() + (seeks() ? kSought : 0));

    std::optional<Program> one;
    if (!seeks()) one.emplace(rank(1));
    const std::vector<std::string> faults = lives(action, number);
    for (std::size_t life = 0; life <= faults.size(); ++life) {
      Program zero = rank(0, state, life < faults.size() ? faults[life] : "");
      bool ended = life == faults.size();
      if (!ended) {
        ended = live(zero, action, number, life + 1 == faults.size());
        if (sleeps()) {
          for (const pid_t producer : stopped) ::kill(producer, SIGCONT);
        }
      } else {
        for (const pid_t producer : stopped) ::kill(producer, SIGCONT);
      }
      if (ended) {
        for (const pid_t producer : stopped) ::kill(producer, SIGCONT);
        EXPECT_EQ(zero.wait(), 0) << zero.err();
        life = faults.size();
      }
      const Batches batches_of_life = batches(zero);
      had.insert(had.end(), batches_of_life.begin(), batches_of_life.end());
      state = last_state(batches_of_life, state);
    }
    EXPECT_NE(acted(number++), 0);
    if (!one) one.emplace(rank(1));
    EXPECT_EQ(one->wait(), 0) << one->err();
    EXPECT_EQ(had, expected[0]);
    EXPECT_EQ(batches(*one), expected[1]);
    // Those that were held themselves may have been held past their deadline, on a machine that has other work.
    EXPECT_LE(status()["producers_replaced"], stopped.size()) << "nobody else is to blame";
    expect_no_slot_stuck();
    stop_pool();
    if (HasFailure()) return;
    cover(cell, action);
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, GridOfRanks, testing::ValuesIn(kRankCells), cell_name);

}  // namespace
}  // namespace feedring::test
