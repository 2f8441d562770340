// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/grid.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace feedring::test {

using nlohmann::json;

namespace {

using Covered = std::map<std::pair<std::string, std::string>, std::string>;
constexpr std::string_view kRoles[] = {"producer", "rank", "supervisor"};

Covered& covered() {
  static Covered all;
  return all;
}

class PrintGrid : public testing::Environment {
 public:
  void TearDown() override {
    if (!covered().empty()) std::cout << "the grid, as covered by this run:\n" << grid_table(covered());
  }
};
// NOLINTNEXTLINE(cert-err58-cpp): GoogleTest owns it
const testing::Environment* const kPrintGrid = testing::AddGlobalTestEnvironment(new PrintGrid);

void add(Covered& all, const Cell& cell, char action) {
  std::string& actions = all[{std::string(cell.point), std::string(cell.role)}];
  if (actions.find(action) == std::string::npos) actions += action;
}

}  // namespace

std::string action_word(char letter) {
  switch (letter) {
    case 'k': return "kill";
    case 's': return "stop";
    case 'a': return "abort";
    default: return "hang";
  }
}

std::string cell_name(const testing::TestParamInfo<Cell>& info) {
  std::string name;
  bool upper = true;
  for (const char c : info.param.point) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter) name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = !letter;
  }
  return name + std::to_string(info.index);
}

void PrintTo(const Cell& cell, std::ostream* out) { *out << cell.role << ", " << cell.point << ", " << cell.actions; }

void cover(const Cell& cell, char action) { add(covered(), cell, action); }

Covered planned_grid() {
  Covered all;
  const auto take = [&](const auto& cells) {
    for (const Cell& cell : cells) {
      for (const char action : cell.actions) add(all, cell, action);
    }
  };
  take(kProducerCells);
  take(kRankCells);
  take(kSupervisorCells);
  return all;
}

std::string grid_table(const Covered& all) {
  std::ostringstream table;
  table << "  k kill -9   s stopped past the deadline and continued   a abort   h hang\n  " << std::left
        << std::setw(40) << "point";
  for (const std::string_view role : kRoles) table << std::setw(12) << role;
  table << '\n';
  std::size_t cells = 0;
  for (const std::string_view point : kFaultPoints) {
    std::string row;
    bool any = false;
    std::ostringstream line;
    line << "  " << std::left << std::setw(40) << point;
    for (const std::string_view role : kRoles) {
      const auto found = all.find({std::string(point), std::string(role)});
      std::string shown;
      for (const char action : {'k', 's', 'a', 'h'}) {
        const bool there = found != all.end() && found->second.find(action) != std::string::npos;
        cells += there ? 1 : 0;
        any = any || there;
        shown += there ? action : '.';
      }
      line << std::setw(12) << shown;
    }
    if (any) table << line.str() << '\n';
  }
  table << "  " << cells << " cells\n";
  return table.str();
}

void GridScene::SetUp() {
  Scene::SetUp();
#ifndef FEEDRING_FAULT_POINTS
  GTEST_SKIP() << "this build has no fault points (FEEDRING_FAULT_POINTS=OFF)";
#endif
  make_pictures(40);
  std::string train = "seed = 4\nitem_deadline_s = 0.6";
  if (GetParam().way == Way::kBadFile) {
    write_file(data() / "b" / "text.jpg", "This is no picture.\n");
    train += "\non_error = \"zero\"\nerror_budget = 1.0\nremainder = \"pad\"";
  }
  if (GetParam().way == Way::kStore)
    train +=
        "\ncache = \"decoded\"\ntransform = [ { name = \"Resize\", size = [24, 24] }, "
        "{ name = \"RandomHorizontalFlip\" } ]";
  if (GetParam().way == Way::kViews)
    train +=
        "\nviews = { global = { count = 2, transform = [ { name = \"RandomResizedCrop\", size = 24 } ] }, "
        "local = { count = 3, transform = [ { name = \"RandomResizedCrop\", size = 8 } ] } }";
  config_ = configure(train, "failures = \"failures.jsonl\"");
}

std::string GridScene::marker(int number) const { return (folder() / ("acted-" + std::to_string(number))).string(); }

pid_t GridScene::acted(int number) const {
  pid_t pid = 0;
  eventually([&] { return static_cast<bool>(std::ifstream(marker(number)) >> pid); }, seconds(20),
             std::chrono::milliseconds(5));
  EXPECT_NE(pid, 0) << "nobody passed this point";
  return pid;
}

std::string GridScene::fault(const Cell& cell, char action, int number) const {
  return std::string(cell.role) + ':' + std::string(cell.point) + ':' + std::to_string(cell.nth) + ':' +
         action_word(action) + ':' + marker(number);
}

pid_t GridScene::start(const std::string& faults) {
  Start start;
  if (!faults.empty()) start.environment["FEEDRING_FAULT"] = faults;
  return start_pool({"-c", config_, "--producers", "2", "--ranks", "2"}, start);
}

Program GridScene::rank(int rank, const std::string& state, const std::string& faults,
                        const std::vector<std::string>& more) const {
  Start start;
  start.environment = {{"RANK", std::to_string(rank)},
                       {"LOCAL_RANK", std::to_string(rank)},
                       {"WORLD_SIZE", "2"},
                       {"LOCAL_WORLD_SIZE", "2"}};
  if (!faults.empty()) start.environment["FEEDRING_FAULT"] = faults;
  int epochs = kEpochs;
  std::vector<std::string> arguments = {"--states"};
  if (!state.empty()) {
    const std::string file = "state-of-" + std::to_string(rank);
    write_file(folder() / file, state);
    arguments.insert(arguments.end(), {"--load", file});
    epochs -= json::parse(state)["epoch"].get<int>();
  }
  arguments.insert(arguments.end(), {"--epochs", std::to_string(epochs)});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return trainer(arguments, start);
}

GridScene::Batches GridScene::batches(const Program& rank) { return events(rank, "batch"); }

std::string GridScene::last_state(const Batches& batches, const std::string& before) {
  return batches.empty() ? before : batches.back()["state"].get<std::string>();
}

const std::vector<GridScene::Batches>& GridScene::undisturbed() {
  if (!undisturbed_.empty()) return undisturbed_;
  start();
  Program zero = rank(0);
  Program one = rank(1);
  EXPECT_EQ(zero.wait(), 0) << zero.err();
  EXPECT_EQ(one.wait(), 0) << one.err();
  undisturbed_ = {batches(zero), batches(one)};
  EXPECT_GE(undisturbed_[0].size(), 10U);
  EXPECT_EQ(undisturbed_[0].size(), undisturbed_[1].size());
  stop_pool();
  return undisturbed_;
}

std::vector<pid_t> GridScene::hold_producers(pid_t supervisor) {
  std::vector<pid_t> producers;
  EXPECT_TRUE(eventually([&] { return (producers = producers_of(supervisor)).size() == 2; }));
  for (const pid_t producer : producers) ::kill(producer, SIGSTOP);
  return producers;
}

void GridScene::stop_past_the_deadline(pid_t pid, bool it_dies_of_it) {
  EXPECT_TRUE(eventually([&] { return !lives(pid) || process_info(pid)->state == 'T'; }, seconds(5)));
  if (it_dies_of_it) {
    EXPECT_TRUE(eventually([&] { return !lives(pid); }, seconds(20))) << "nobody misses it";
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  }
  ::kill(pid, SIGCONT);
}

void GridScene::expect_no_slot_stuck() const {
  EXPECT_TRUE(eventually([this] {
    const json now = status();
    return std::all_of(now["rings"].begin(), now["rings"].end(),
                       [](const json& ring) { return ring["slots"]["offered"] == 0; });
  })) << status()["rings"];
}

void GridScene::expect_undisturbed(Program& zero, Program& one) {
  EXPECT_EQ(zero.wait(), 0) << zero.err();
  EXPECT_EQ(one.wait(), 0) << one.err();
  EXPECT_EQ(batches(zero), undisturbed()[0]);
  EXPECT_EQ(batches(one), undisturbed()[1]);
}

}  // namespace feedring::test
