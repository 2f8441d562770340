// SPDX-License-Identifier: Apache-2.0
// Episodes: a producer dies amid one, and every byte comes as if nothing had happened; a file that fails is named.
#include <gmock/gmock.h>

#include <fstream>

#include "runtime/fault_point.hpp"
#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Episodes : public Scene {
 protected:
  std::string episodes_of(const std::string& more = "") {
    return configure(
        "remainder = \"pad\"\n" + more +
        "\nepisodes = { ways = 3, shots = 1, queries = 2, tasks_per_epoch = 10, augment = [\"rotate90\"] }");
  }
  [[nodiscard]] Program drain(int epochs, const std::string& rank = "0", const std::string& world = "1") const {
    Start start;
    start.command = {
        FEEDRING_LIBEXEC "/feedring-drain", "--epochs", std::to_string(epochs), "--rank", rank, "--world", world};
    start.environment = {{"FEEDRING_POOL", pool()}};
    start.input = "\n";
    return Program(start);
  }
  static json result_of(Program& drained) {
    EXPECT_EQ(drained.wait(), 0) << drained.err();
    const std::vector<json> results = events(drained, "result");
    EXPECT_EQ(results.size(), 1U);
    return results.empty() ? json() : results[0];
  }
};

TEST_F(Episodes, ComeWithTheSameBytesWhoeverDiesAmidOne) {
#ifndef FEEDRING_FAULT_POINTS
  GTEST_SKIP() << "this build has no fault points (FEEDRING_FAULT_POINTS=OFF)";
#endif
  make_pictures(24, 4);
  const std::string config = episodes_of();
  start_pool({"-c", config, "--producers", "2", "--ranks", "1"});
  Program first = drain(3);
  const json undisturbed = result_of(first);
  ASSERT_EQ(undisturbed["digest"].size(), 3U);
  EXPECT_EQ(undisturbed["episodes"], 3 * 10 - 4) << "but the batch before the window, of 4 episodes";
  EXPECT_EQ(undisturbed["images"], undisturbed["episodes"].get<int>() * 9);
  stop_pool();
  // Amid the images of an episode, before and after its first one's whole columns, and at the ends of tasks.
  for (const char* where : {"row, within its columns:1", "row, within its columns:14", "decode, after the picture:23",
                            "claim, after its step:5", "finish, between a and b:4"}) {
    SCOPED_TRACE(where);
    const std::string marker = (folder() / ("acted " + std::to_string(std::string(where).size()))).native();
    std::filesystem::remove(marker);
    start_pool(
        {"-c", config, "--producers", "2", "--ranks", "1"},
        {.command = {}, .environment = {{"FEEDRING_FAULT", "producer:" + std::string(where) + ":kill:" + marker}}});
    Program disturbed = drain(3);
    EXPECT_EQ(result_of(disturbed)["digest"], undisturbed["digest"]);
    EXPECT_TRUE(std::filesystem::exists(marker)) << "nobody was killed";
    EXPECT_TRUE(eventually([&] { return status()["producers_replaced"] == 1; })) << status().dump();
    stop_pool();
  }
}

TEST_F(Episodes, NameTheFileThatFailedAndGoOnBehindIt) {
  make_pictures(24, 4);
  write_file(data() / "b" / "2.jpg", "no picture");
  const std::string config = episodes_of();
  start_pool({"-c", config, "--producers", "2", "--ranks", "1"});
  Program rank = drain(1);
  EXPECT_EQ(rank.wait(), 3);
  EXPECT_THAT(rank.err(), HasSubstr("b/2.jpg"));
  stop_pool();
}

TEST_F(Episodes, ThatReplaceAFileAreListedAndCountedByImage) {
  make_pictures(24, 4);
  write_file(data() / "b" / "2.jpg", "no picture");
  start_pool({"-c", episodes_of("on_error = \"replace\"\nerror_budget = 0.5"), "--producers", "2", "--ranks", "1"});
  Program rank = drain(2);
  const json result = result_of(rank);
  EXPECT_GT(result["failed"], 0);
  EXPECT_EQ(result["images"], result["episodes"].get<int>() * 9) << "each has a substitute";
  // Images of the next epochs were made ahead.
  EXPECT_GE(status()["failed"], result["failed"]);
  stop_pool();
  start_pool({"-c", episodes_of("on_error = \"zero\"\nerror_budget = 0.01"), "--producers", "2", "--ranks", "1"});
  Program poor = drain(2);
  EXPECT_EQ(poor.wait(), 3);
  EXPECT_THAT(poor.err(), HasSubstr("more than the 1 of 90 that error_budget")) << "10 episodes of 9 images";
  stop_pool();
}

TEST_F(Episodes, AreNotServedFromDataThatCannotGiveThem) {
  make_pictures(8, 4);
  Program run = ran({"start", "-c", episodes_of(), "--ranks", "1"});
  EXPECT_EQ(run.wait(), 3);
  EXPECT_THAT(run.err(), HasSubstr("fewer than the 3 samples that shots = 1 and queries = 2 take"));
}

}  // namespace
}  // namespace feedring::test
