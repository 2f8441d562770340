// SPDX-License-Identifier: Apache-2.0
// A training that stops and goes on elsewhere: nothing is lost, nothing comes twice, whatever the ranks, the batch or
// the producers are then. `feedring dump` says what an epoch holds.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;

class AState : public Scene {
 protected:
  /// What batches of an epoch brought: ordinal -> sample, each ordinal at most once.
  static void collect(const Program& program, std::uint64_t epoch, std::map<std::uint64_t, std::uint64_t>& seen) {
    for (const json& batch : events(program, "batch")) {
      if (batch["epoch"] != epoch) continue;
      for (std::uint32_t row = 0; row < batch["rows"]; ++row) {
        const std::uint64_t ordinal = batch["first"].get<std::uint64_t>() + row;
        EXPECT_TRUE(seen.emplace(ordinal, batch["ids"][row]).second) << "ordinal " << ordinal << " came twice";
      }
    }
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(folder() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(AState, OfAnyStepGoesOnWithOtherRanksBatchesAndProducers) {
  make_pictures(23);
  const std::string common = "remainder = \"pad\"\nseed = 11\n";
  const std::string two_by_two = configure(common + "batch_size = 2", "producers = 1", "first.toml");
  struct Later {
    int ranks;
    int producers;
    std::string config;
  };
  const Later laters[] = {{3, 2, configure(common + "batch_size = 2", "", "later0.toml")},
                          {1, 3, configure(common + "batch_size = 5", "", "later1.toml")},
                          {4, 1, configure(common + "batch_size = 1\nslots = 6", "", "later2.toml")}};
  const auto expected = dumped(two_by_two, 0, 2);
  ASSERT_EQ(expected.size(), 23U);
  const int steps = 6;  // 23 samples by 2 ranks x 2
  for (int step = 1; step <= steps; ++step) {
    std::map<std::uint64_t, std::uint64_t> seen;
    Program first = ran({"run", "-c", two_by_two, "--nproc-per-node", "2", "--", trainer_program(), "--batches",
                         std::to_string(step), "--save", "state"});
    ASSERT_EQ(first.wait(), 0) << first.err();
    EXPECT_EQ(read("state.0"), read("state.1")) << "all ranks save the same";
    collect(first, 0, seen);
    EXPECT_EQ(seen.size(), std::min<std::size_t>(23, static_cast<std::size_t>(step) * 4));

    const Later& later = laters[step % 3];
    Program second = ran({"run", "-c", later.config, "--producers", std::to_string(later.producers), "--nproc-per-node",
                          std::to_string(later.ranks), "--", trainer_program(), "--epochs", "1", "--load", "state.0"});
    ASSERT_EQ(second.wait(), 0) << second.err();
    if (step < steps) {
      collect(second, 0, seen);
      EXPECT_EQ(seen, expected) << "saved after step " << step;
    } else {
      // After the last step the state is the next epoch's begin.
      std::map<std::uint64_t, std::uint64_t> next;
      collect(second, 1, next);
      EXPECT_EQ(next, dumped(two_by_two, 1, 2));
    }
  }
}

TEST_F(AState, OfARankThatComesBackFindsItsRingStillWarm) {
  make_pictures(48);
  const pid_t supervisor = start_pool({"-c", configure("slots = 4\nseed = 5"), "--producers", "2", "--ranks", "1"});
  Program undisturbed = trainer({"--epochs", "1"});
  ASSERT_EQ(undisturbed.wait(), 0) << undisturbed.err();

  Program first = trainer({"--batches", "3", "--save", "state"});
  ASSERT_EQ(first.wait(), 0) << first.err();
  ASSERT_TRUE(eventually([this] { return status()["rings"][0]["slots"]["ready"] >= 3; })) << status().dump();
  // With all producers stopped, what comes at once was there already.
  const std::vector<pid_t> producers = producers_of(supervisor);
  ASSERT_EQ(producers.size(), 2U);
  for (const pid_t producer : producers) ::kill(producer, SIGSTOP);
  Program second = trainer({"--epochs", "1", "--load", "state.0"});
  EXPECT_TRUE(eventually([&] { return events(second, "batch").size() >= 3; })) << second.err() << second.out();
  for (const pid_t producer : producers) ::kill(producer, SIGCONT);
  EXPECT_EQ(second.wait(), 0) << second.err();

  // And it is what the undisturbed epoch brought, pixel for pixel.
  const std::vector<json> whole = events(undisturbed, "batch");
  std::vector<json> pieces = events(first, "batch");
  for (const json& batch : events(second, "batch")) pieces.push_back(batch);
  ASSERT_EQ(pieces.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(pieces[i], whole[i]);
  stop_pool();
}

TEST_F(AState, OfARankThatWasKilledLosesAndDoublesNothing) {
  make_pictures(60);
  start_pool({"-c", configure("seed = 9"), "--producers", "2", "--ranks", "1"});
  const auto expected = dumped((folder() / "feed.toml").string(), 0, 1);
  Program first = trainer({"--batches", "5", "--save", "state"});
  ASSERT_EQ(first.wait(), 0) << first.err();
  std::map<std::uint64_t, std::uint64_t> seen;
  collect(first, 0, seen);
  // Goes on, and dies with batches in hand that no checkpoint knows of.
  Program lost = trainer({"--epochs", "1", "--load", "state.0", "--pause-ms", "20"});
  ASSERT_TRUE(eventually([&] { return events(lost, "batch").size() >= 4; })) << lost.err();
  lost.kill(SIGKILL);
  lost.wait();
  Program second = trainer({"--epochs", "1", "--load", "state.0"});
  EXPECT_EQ(second.wait(), 0) << second.err();
  collect(second, 0, seen);
  EXPECT_EQ(seen, expected);
  stop_pool();
}

TEST_F(AState, OfAnotherDataSetIsRefused) {
  make_pictures(16);
  const std::string config = configure();
  Program first = ran({"run", "-c", config, "--", trainer_program(), "--batches", "2", "--save", "state"});
  ASSERT_EQ(first.wait(), 0) << first.err();
  write_file(data() / "a" / "more.jpg", jpeg(32, 32));
  Program second = ran({"run", "-c", config, "--", trainer_program(), "--load", "state.0"});
  EXPECT_EQ(second.wait(), 74);
  EXPECT_THAT(second.err(), testing::HasSubstr("another data set"));
}

}  // namespace
}  // namespace feedring::test
