// SPDX-License-Identifier: Apache-2.0
// One file that ends, holds up or fails whoever takes it up, by fault points (runtime/fault_point.hpp): what a storage
// that breaks down and a decoder that does not come back do to a pool.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kPath = "a/5.jpg";
constexpr std::uint64_t kIndex = 5;  // in order of their paths: a/0.jpg … a/9.jpg, b/0.jpg …

class OneFile : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
#ifndef FEEDRING_FAULT_POINTS
    GTEST_SKIP() << "this build has no fault points (FEEDRING_FAULT_POINTS=OFF)";
#endif
    make_pictures(20);
  }
  /// A pool of two producers in which `what` happens at `point` to whoever has the file in hand, every time; `more`
  /// are other faults.
  pid_t start(const std::string& policy, const std::string& point, const std::string& what,
              const std::string& more = "") {
    Start start;
    start.environment["FEEDRING_FAULT"] = "producer:" + point + '@' + kPath + ":0:" + what + more;
    // In order, the file is at the same step of each epoch, further apart than a ring is long. Shuffled, two producers
    // may have it in hand at once, in two epochs, and it then ends both before it counts as met twice.
    const std::string feed = "item_deadline_s = 0.5\nshuffle = false\n" + policy;
    return start_pool({"-c", configure(feed, "failures = \"failures.jsonl\""), "--producers", "2", "--ranks", "2"},
                      start);
  }
  [[nodiscard]] Program rank(int rank, const std::string& epochs = "2") const {
    Start start;
    start.environment = {{"RANK", std::to_string(rank)}, {"LOCAL_RANK", std::to_string(rank)}, {"WORLD_SIZE", "2"}};
    return trainer({"--epochs", epochs, "--pause-ms", "2"}, start);
  }
  /// What both ranks delivered as failed.
  static std::multiset<std::uint64_t> failed(const Program& zero, const Program& one, std::size_t* good) {
    std::multiset<std::uint64_t> bad;
    for (const Program* program : {&zero, &one}) {
      for (const json& batch : events(*program, "batch")) {
        for (std::uint32_t row = 0; row < batch["rows"]; ++row) {
          if (batch["valid"][row] == 0) bad.insert(batch["ids"][row].get<std::uint64_t>());
          *good += batch["valid"][row] == 1 ? 1 : 0;
        }
      }
    }
    return bad;
  }
  /// Two epochs under a policy that goes on: everything comes but the file, which is named once an epoch and not more.
  void expect_only_the_file_to_fail(const std::string& reason) {
    Program zero = rank(0);
    Program one = rank(1);
    EXPECT_EQ(zero.wait(), 0) << zero.err();
    EXPECT_EQ(one.wait(), 0) << one.err();
    std::size_t good = 0;
    EXPECT_EQ(failed(zero, one, &good), (std::multiset<std::uint64_t>{kIndex, kIndex}));
    EXPECT_EQ(good, 38U);
    std::map<int, int> listed;
    std::ifstream file(folder() / "failures.jsonl");
    for (std::string line; std::getline(file, line);) {
      const json failure = json::parse(line);
      EXPECT_EQ(failure["path"], kPath);
      EXPECT_EQ(failure["outcome"], "zeroed");
      EXPECT_THAT(failure["reason"].get<std::string>(), HasSubstr(reason));
      if (failure["epoch"] < 2) ++listed[failure["epoch"].get<int>()];
    }
    EXPECT_EQ(listed, (std::map<int, int>{{0, 1}, {1, 1}}));
  }

  const std::string raise_ = "on_error = \"raise\"\nremainder = \"pad\"";
  const std::string zero_ = "on_error = \"zero\"\nerror_budget = 0.5\nremainder = \"pad\"";
};

TEST_F(OneFile, ThatStorageCannotReadFollowsThePolicyByName) {
  for (const auto& [error, text] :
       {std::pair{"EIO", "cannot be read: Input/output error"}, {"ESTALE", "cannot be read: Stale file handle"}}) {
    SCOPED_TRACE(error);
    std::filesystem::remove(folder() / "failures.jsonl");
    start(zero_, "read, instead of a piece", error);
    expect_only_the_file_to_fail(text);
    EXPECT_EQ(status()["producers_replaced"], 0);
    stop_pool();
    // The same by the thread that reads ahead.
    std::filesystem::remove(folder() / "failures.jsonl");
    start(zero_, "read, instead of a piece", error, ";producer:read, instead of a piece:1:EAGAIN");
    expect_only_the_file_to_fail(text);
    stop_pool();

    start(raise_, "read, instead of a piece", error);
    Program zero = rank(0, "1");
    Program one = rank(1, "1");
    EXPECT_EQ(std::min(zero.wait(), one.wait()), 0) << "only the rank whose file it is";
    EXPECT_EQ(std::max(zero.wait(), one.wait()), 3);
    EXPECT_THAT(zero.err() + one.err(), HasSubstr(std::string(kPath) + " (sample 5"));
    EXPECT_THAT(zero.err() + one.err(), HasSubstr(text));
    stop_pool();
  }
}

TEST_F(OneFile, ThatCrashesItsDecoderIsGivenUpAfterTheSecondTry) {
  start(zero_, "decode, before the picture", "abort");
  expect_only_the_file_to_fail("ended 2 producers and is quarantined");
  EXPECT_EQ(status()["producers_replaced"], 2);
  stop_pool();
}

TEST_F(OneFile, ThatItsDecoderLoopsOnIsGivenUpAfterTheSecondTry) {
  start(zero_, "decode, before the picture", "hang");
  expect_only_the_file_to_fail("ended 2 producers and is quarantined");
  EXPECT_EQ(status()["producers_replaced"], 2);
  stop_pool();
}

TEST_F(OneFile, ThatCrashesItsDecoderEndsTheRankUnderRaiseWithItsName) {
  start(raise_, "decode, before the picture", "abort");
  Program zero = rank(0, "1");
  Program one = rank(1, "1");
  EXPECT_EQ(std::max(zero.wait(), one.wait()), 3);
  EXPECT_THAT(zero.err() + one.err(), HasSubstr(kPath));
  EXPECT_THAT(zero.err() + one.err(), HasSubstr("quarantined"));
  stop_pool();
}

TEST_F(OneFile, ThatHoldsAProducerInTheKernelEndsAllRanksWithItsName) {
  start(zero_, "read, before the file", "hang", ";supervisor:hang, before the kill:0:skip");
  Program zero = rank(0, "100000");
  Program one = rank(1, "100000");
  EXPECT_EQ(zero.wait(), 73);
  const auto since = Clock::now();
  EXPECT_EQ(one.wait(), 73);
  EXPECT_LT(Clock::now() - since, seconds(2));
  for (const Program* program : {&zero, &one}) {
    EXPECT_THAT(program->err(), HasSubstr("was killed and does not die: it is stuck in the kernel with a/5.jpg"));
  }
  stop_pool();
}

TEST_F(OneFile, ThatHoldsAProducerUpWhileTheSupervisorIsStoppedIsNoReasonToGiveUp) {
  const pid_t supervisor = start(zero_, "read, before the file", "hang:" + (folder() / "acted").string(),
                                 ";supervisor:hang, before the kill:0:skip");
  Program zero = rank(0);
  Program one = rank(1);
  pid_t hanging = 0;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(std::ifstream(folder() / "acted") >> hanging); }));
  // Blamed, and then the supervisor is stopped, longer than a killed producer gets to be gone.
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ::kill(supervisor, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(5500));
  ::kill(supervisor, SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  ::kill(hanging, SIGKILL);
  EXPECT_EQ(zero.wait(), 0) << zero.err();
  EXPECT_EQ(one.wait(), 0) << one.err();
  EXPECT_TRUE(status()["broken"].is_null()) << status()["broken"];
  stop_pool();
}

TEST_F(OneFile, OrAnyOtherThatNoProducerSurvivesEndsAllRanksWithTheReason) {
  Start start;
  start.environment["FEEDRING_FAULT"] = "producer:claim, after its step:1:abort";
  start_pool({"-c", configure(), "--producers", "2", "--ranks", "2"}, start);
  Program zero = rank(0);
  Program one = rank(1);
  EXPECT_EQ(zero.wait(), 72);
  const auto since = Clock::now();
  EXPECT_EQ(one.wait(), 72);
  EXPECT_LT(Clock::now() - since, seconds(2));
  for (const Program* program : {&zero, &one}) {
    EXPECT_THAT(program->err(),
                HasSubstr("ended 5 times in a row without finishing a task, the last time by signal 6"));
  }
  stop_pool();
}

}  // namespace
}  // namespace feedring::test
