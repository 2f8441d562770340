// SPDX-License-Identifier: Apache-2.0
// Every rank has a place of its own in its pool, and one process at a time.
#include <gmock/gmock.h>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using testing::HasSubstr;

class Places : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    make_pictures(24);
    start_pool({"-c", configure(), "--producers", "1", "--ranks", "2"});
  }
  void TearDown() override {
    stop_pool();
    Scene::TearDown();
  }
  static Start as(int rank, int local_rank, int world) {
    Start start;
    start.environment = {{"RANK", std::to_string(rank)},
                         {"LOCAL_RANK", std::to_string(local_rank)},
                         {"WORLD_SIZE", std::to_string(world)}};
    return start;
  }
  /// Attached, and staying so.
  Program holder(const Start& start) {
    Program program = trainer({"--hold", "--batches", "1"}, start);
    EXPECT_TRUE(eventually([&] { return !events(program, "batch").empty(); })) << program.err();
    return program;
  }
  /// Ends with the refusal that says `why`, not before its patience ended.
  void expect_refused(const Start& start, const std::string& why) {
    const auto since = Clock::now();
    Program program = trainer({"--batches", "1"}, start);
    EXPECT_EQ(program.wait(), 74);
    EXPECT_THAT(program.err(), HasSubstr(why));
    EXPECT_GT(Clock::now() - since, seconds(4));
    EXPECT_LT(Clock::now() - since, seconds(15));
  }
};

TEST_F(Places, AreWaitedForWhileAPredecessorDies) {
  Program old = holder(as(0, 0, 1));
  Program young = trainer({"--batches", "1"}, as(0, 0, 1));
  std::this_thread::sleep_for(seconds(1));
  EXPECT_TRUE(events(young, "batch").empty()) << "the old one still owns the ring";
  old.kill(SIGKILL);
  old.wait();
  EXPECT_EQ(young.wait(), 0) << young.err();
  EXPECT_EQ(events(young, "batch").size(), 1U);
}

TEST_F(Places, AreRefusedWhereAnotherLives) {
  Program one = holder(as(0, 0, 2));
  expect_refused(as(1, 0, 2), "is owned by process " + std::to_string(one.pid()));
  expect_refused(as(0, 1, 2), "is attached already, as local rank 0");
  one.kill(SIGTERM);
  EXPECT_EQ(one.wait(), 0) << one.err();
}

TEST_F(Places, AreGivenToAWorldOfOneSizeAtATime) {
  Program one = holder(as(0, 0, 2));
  expect_refused(as(1, 1, 3), "rank 1 says that the world size is 3, rank 0");
  one.kill(SIGTERM);
  one.wait();
  // All are gone: an elastic restart may come with another size.
  EXPECT_EQ(trainer({"--batches", "1"}, as(1, 1, 3)).wait(), 0);
}

}  // namespace
}  // namespace feedring::test
