// SPDX-License-Identifier: Apache-2.0
// Too little memory is one sentence at the start and an exit code, never a signal.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/fault/scene.hpp"
#include "tests/support/memory_group.hpp"

namespace feedring::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // whose shadow memory does not fit into small groups
#else
constexpr bool kSanitized = false;
#endif

class Memory : public Scene {
 protected:
  // Rings of 64 pictures of 224 x 224: 9.2 MiB a slot.
  [[nodiscard]] std::string large() {
    return configure("batch_size = 64\nslots = 8\ntransform = [ { name = \"RandomResizedCrop\", size = 224 } ]",
                     "producers = 1\nranks = 1", "large.toml");
  }
  [[nodiscard]] std::string small() {
    return configure("batch_size = 4\nslots = 2", "producers = 1\nranks = 1", "small.toml");
  }
};

TEST_F(Memory, OfASmallGroupHoldsASmallRingAndRefusesALargeOne) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need more memory than this group has";
  const MemoryGroup group(64ULL << 20);
  if (!group.is_there())
    GTEST_SKIP() << "a memory control group cannot be made: not root, or no hierarchy with the controller";
  make_pictures(80);
  const std::string procs = (group.folder() / "cgroup.procs").string();
  Start inside;
  inside.before = [&] { return group.enter(procs.c_str()); };

  const std::vector<std::vector<std::string>> refused = {
      {"bench", "-c", large(), "--epochs", "1", "--producers", "1", "--json"},
      {"run", "-c", large(), "--", "true"},
      {"start", "-c", large()},
      {"plan", "-c", large()}};
  for (const auto& arguments : refused) {
    Program program = ran(arguments, inside);
    EXPECT_EQ(program.wait(), 71) << arguments[0] << program.err();
    const std::string said = program.err();
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << "one sentence: " << said;
    EXPECT_EQ(program.out(), arguments[0] == "plan" ? program.out() : "");
    EXPECT_THAT(said, AllOf(HasSubstr("needs"), HasSubstr("are free"), HasSubstr(group.folder().string()),
                            HasSubstr("64.0 MiB"), HasSubstr("lower slots, batch_size or producers")));
  }
  Program fits = ran({"bench", "-c", small(), "--epochs", "1", "--producers", "1", "--json"}, inside);
  EXPECT_EQ(fits.wait(), 0) << fits.err();
  Program plan = ran({"plan", "-c", small(), "--json"}, inside);
  EXPECT_EQ(plan.wait(), 0) << plan.err();
  EXPECT_LE(plan.lines().at(0).at("free_bytes"), 64U << 20);
}

TEST_F(Memory, ThatARankAsksForLaterIsRefusedToTheRankAlone) {
  make_pictures(80);
  start_pool({"-c", configure("", "producers = 1\nmemory_limit = \"16 MiB\"")});
  // Six hundred rings of 4 pictures do not fit where one does.
  Start many;
  many.environment = {{"RANK", "0"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "600"}, {"LOCAL_WORLD_SIZE", "600"}};
  Program greedy = trainer({"--batches", "1"}, many);
  EXPECT_EQ(greedy.wait(), 71) << greedy.err();
  EXPECT_THAT(greedy.err(), HasSubstr("[pool] memory_limit"));
  Program modest = trainer({"--batches", "1"});
  EXPECT_EQ(modest.wait(), 0) << modest.err();
  stop_pool();
}

TEST_F(Memory, IsLimitedByTheConfigurationToo) {
  make_pictures(80);
  const std::string config =
      configure("batch_size = 64\nslots = 8\ntransform = [ { name = \"RandomResizedCrop\", size = 224 } ]",
                "producers = 1\nmemory_limit = \"40 MiB\"");
  for (const char* command : {"start", "plan", "bench"}) {
    Program program = ran({command, "-c", config});
    EXPECT_EQ(program.wait(), 71) << command;
    EXPECT_THAT(program.err(),
                AllOf(HasSubstr("and 40.0 MiB are free by [pool] memory_limit"), HasSubstr("or raise memory_limit")));
  }
}

TEST_F(Memory, OfDevShmIsNotNeeded) {
  Program probe({.command = {"unshare", "--mount", "true"}});
  if (probe.wait() != 0) GTEST_SKIP() << "a mount namespace needs root and unshare(1)";
  make_pictures(130);
  const std::string config = configure("batch_size = 64\ntransform = [ { name = \"RandomResizedCrop\", size = 224 } ]");
  Start start;
  start.command = {
      "unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=1M none /dev/shm && \"$@\" && ls -A /dev/shm", "sh"};
  Program bench = ran({"bench", "-c", config, "--epochs", "1", "--producers", "1", "--json"}, start);
  EXPECT_EQ(bench.wait(), 0) << bench.err();
  const std::string said = bench.out();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << "files in /dev/shm: " << said;
}

}  // namespace
}  // namespace feedring::test
