// SPDX-License-Identifier: Apache-2.0
// The fault grid, producers: whatever happens to one of them, every batch comes as if nothing had happened.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "tests/fault/grid.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;

class GridOfProducers : public GridScene {
 protected:
  [[nodiscard]] std::string faults(char action, int number) const {
    // Every process meets slow storage at its first file, and reads ahead from then on.
    const std::string slow = GetParam().way == Way::kReadAhead ? ";producer:read, instead of a piece:1:EAGAIN" : "";
    return fault(GetParam(), action, number) + slow;
  }
  /// Whoever stops or hangs is missed only while it has something in hand. One that starts may have, on another thread.
  [[nodiscard]] bool dies(char action) const { return action == 'k' || action == 'a' || GetParam().way != Way::kIdle; }
  [[nodiscard]] bool may_live(char action) const { return !dies(action) || GetParam().way == Way::kStart; }
  /// Every failure since the last look, by (epoch, ordinal): each is listed once, whoever died.
  void expect_each_failure_once(std::size_t failures) const {
    std::map<std::pair<int, int>, int> listed;
    std::ifstream file(folder() / "failures.jsonl");
    for (std::string line; std::getline(file, line);) {
      const json failure = json::parse(line);
      ++listed[{failure["epoch"].get<int>(), failure["ordinal"].get<int>()}];
    }
    EXPECT_EQ(listed.size(), failures);
    for (const auto& [sample, times] : listed) EXPECT_EQ(times, 1) << sample.first << ' ' << sample.second;
  }
};

TEST_P(GridOfProducers, DeliversWhatAnUndisturbedRunDelivers) {
  const Cell& cell = GetParam();
  static_cast<void>(undisturbed());
  int number = 0;
  for (const char action : cell.actions) {
    SCOPED_TRACE(action_word(action));
    std::filesystem::remove(folder() / "failures.jsonl");
    start(faults(action, number));
    Program zero = rank(0);
    Program one = rank(1);
    const pid_t who = acted(number++);
    if (action == 's' && who != 0) stop_past_the_deadline(who, !may_live(action));
    expect_undisturbed(zero, one);
    EXPECT_TRUE(eventually([&] { return may_live(action) || status()["producers_replaced"] == 1; })) << status().dump();
    // One at most. Also an idle one: where a file came slowly (a busy machine) it sleeps at the same points for its
    // reading threads, with a sample in hand.
    EXPECT_LE(status()["producers_replaced"], 1);
    expect_no_slot_stuck();
    if (cell.way == Way::kBadFile) expect_each_failure_once(kEpochs);
    stop_pool();
    if (HasFailure()) return;
    cover(cell, action);
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, GridOfProducers, testing::ValuesIn(kProducerCells), cell_name);

TEST(Grid, HasACellForEveryPointAndEveryPointIsKilledAtOnce) {
  const auto planned = planned_grid();
  std::cout << "the grid, as planned:\n" << grid_table(planned);
  for (const std::string_view point : kFaultPoints) {
    const bool killed = std::any_of(planned.begin(), planned.end(), [&](const auto& entry) {
      return entry.first.first == point && entry.second.find('k') != std::string::npos;
    });
    EXPECT_TRUE(killed) << "no cell kills at '" << point << "'";
  }
  for (const auto& [place, actions] : planned) {
    EXPECT_NE(std::find(std::begin(kFaultPoints), std::end(kFaultPoints), place.first), std::end(kFaultPoints))
        << place.first << " is no point";
  }
}

}  // namespace
}  // namespace feedring::test
