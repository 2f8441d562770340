// SPDX-License-Identifier: Apache-2.0
// What plan, status and bench write as JSON is what docs/schema says, and the schemas let nothing else pass.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <feedring/feed.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/json_schema.hpp"
#include "tests/support/numa_machine.hpp"
#include "tests/support/program.hpp"
#include "tests/unit/picture_files.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_command;
using test::schema_error;
using Pointer = json::json_pointer;

/// All places of `value`; of a list, those of its first entry.
void find_places(const json& value, const Pointer& at, std::vector<Pointer>& places) {
  places.push_back(at);
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) find_places(member, at / name, places);
  } else if (value.is_array() && !value.empty()) {
    find_places(value[0], at / 0, places);
  }
}

/// Spoils every place of a good `value` in turn. `optional`: members that may be absent.
void expect_strict(const json& schema, const json& value, const std::set<std::string>& optional = {}) {
  ASSERT_EQ(schema_error(schema, value), "");
  std::vector<Pointer> places;
  find_places(value, Pointer(), places);
  ASSERT_GT(places.size(), 10U);
  for (const Pointer& place : places) {
    const auto spoil = [&](const char* how, const auto& change) {
      json spoilt = value;
      change(spoilt);
      EXPECT_NE(schema_error(schema, spoilt), "") << place.to_string() << ' ' << how;
    };
    spoil("of another type", [&](json& all) { all[place] = {{"unheard", "of"}}; });
    if (value[place].is_object()) {
      spoil("with one member more", [&](json& all) { all[place]["unheard"] = "of"; });
    }
    if (value[place].is_number()) {
      spoil("below zero", [&](json& all) { all[place] = -1; });
    }
    if (!place.empty() && value[place.parent_pointer()].is_object() && !optional.contains(place.to_string())) {
      spoil("taken away", [&](json& all) { all[place.parent_pointer()].erase(place.back()); });
    }
  }
}

class PoolJson : public testing::Test {
 protected:
  PoolJson() {
    test::write_two_classes(files_, 12, 32, 24);
    files_.text(
        "feed.toml",
        "[feed.train]\ndata = \"data\"\nbatch_size = 2\nslots = 3\ntransform = [ { name = \"RandomResizedCrop\", "
        "size = 8 } ]\n");
  }
  [[nodiscard]] std::string config() const { return (files_.root() / "feed.toml").native(); }

  /// The one line of a command that worked.
  static json line_of(const Finished& finished) {
    EXPECT_EQ(finished.code, 0) << finished.err;
    const std::vector<json> lines = finished.lines();
    EXPECT_EQ(lines.size(), 1U) << finished.out;
    return lines.empty() ? json() : lines[0];
  }

  DatasetFiles files_;
};

TEST_F(PoolJson, OfAPlanIsAsItsSchemaSays) {
  const json plan =
      line_of(run_command({"plan", "-c", config(), "--ranks", "2", "--world", "3", "--producers", "1", "--json"}));
  expect_strict(test::schema_of("plan"), plan);
  // By hand: 12 samples over 3 ranks of 2 are two whole steps.
  EXPECT_EQ(plan["steps"][0]["steps"], 2);
  EXPECT_EQ(plan["steps"][0]["left_out"], 0);
  EXPECT_EQ(plan["memory"]["ranks"], 2);
}

TEST_F(PoolJson, OfAPlanSaysWhatTheRemainderDoes) {
  const json dropped = line_of(run_command({"plan", "-c", config(), "--ranks", "5", "--json"}));
  EXPECT_EQ(dropped["steps"][0]["steps"], 1);
  EXPECT_EQ(dropped["steps"][0]["left_out"], 2) << "12 samples, 10 a step";
  EXPECT_EQ(dropped["steps"][0]["repeats"], 0);
  files_.text("feed.toml",
              "[feed.train]\ndata = \"data\"\nbatch_size = 2\nremainder = \"pad\"\n"
              "transform = [ { name = \"CenterCrop\", size = 8 } ]\n");
  const json padded = line_of(run_command({"plan", "-c", config(), "--ranks", "5", "--json"}));
  EXPECT_EQ(padded["steps"][0]["steps"], 2);
  EXPECT_EQ(padded["steps"][0]["left_out"], 0);
  EXPECT_EQ(padded["steps"][0]["repeats"], 8);
}

TEST_F(PoolJson, OfAPlanSaysWhatIsPinnedAndTheLimitOfLockedMemory) {
  const auto plan_under = [&](rlim_t limit, bool may_lock) {
    test::Program program(
        {.command = {FEEDRING_COMMAND, "plan", "-c", config(), "--ranks", "3", "--json"}, .before = [=] {
           const rlimit both{limit, limit};
           if (!may_lock) (void)::prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK);  // only root can, and has to
           return ::setrlimit(RLIMIT_MEMLOCK, &both) == 0;
         }});
    const int code = program.wait();
    return line_of({code, program.out(), program.err()});
  };
  const json tight = plan_under(4096, false);
  const std::uint64_t ring = tight["memory"]["feeds"][0]["ring_bytes"];
  EXPECT_EQ(tight["pinned"]["rank_bytes"], ring);
  EXPECT_EQ(tight["pinned"]["node_bytes"], 3 * ring);
  EXPECT_EQ(tight["pinned"]["locked_limit_bytes"], 4096);
  EXPECT_EQ(tight["pinned"]["ipc_lock"], false);
  EXPECT_NE(tight["pinned"]["note"].get<std::string>().find("> 4.0 KiB"), std::string::npos) << tight["pinned"];
  const json just = plan_under(ring, false);
  EXPECT_EQ(just["pinned"]["note"], "");
}

TEST_F(PoolJson, OfAPlanThatCannotBeIsNone) {
  const Finished few = run_command({"plan", "-c", config(), "--ranks", "2", "--world", "1"});
  EXPECT_EQ(few.code, 2);
  EXPECT_NE(few.err.find("--world 1 is less than the 2 ranks of this node"), std::string::npos) << few.err;
  const Finished nothing = run_command({"plan", "-c", config(), "--ranks", "7"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("leaves nothing of the 12 samples, because one step takes 14"), std::string::npos)
      << nothing.err;
}

TEST_F(PoolJson, OfAStatusIsAsItsSchemaSays) {
  const std::string address = "feedring-status-test/" + std::to_string(::getpid());
  const Finished started =
      run_command({"start", "-c", config(), "--ranks", "2", "--producers", "2", "--address", address, "--grace", "60"});
  ASSERT_EQ(started.code, 0) << started.err;
  const auto ask = [&] { return line_of(run_command({"status", "--json"}, {{"FEEDRING_POOL", address}})); };
  const json schema = test::schema_of("status");
  json status = ask();
  expect_strict(schema, status);
  EXPECT_EQ(status["rings"].size(), 2U);
  EXPECT_EQ(status["producers"].size(), 2U);
  {
    Feed feed = Feed::attach({.name = "train", .pool = address, .rank = 1, .world_size = 2, .local_rank = 0});
    ASSERT_TRUE(feed.next());
    status = ask();
  }
  EXPECT_EQ(status["rings"][0]["rank"], 1);
  EXPECT_EQ(status["rings"][0]["pid"], ::getpid());
  EXPECT_EQ(status["ranks_attached"], 1);
  status["producers"][0]["in_hand"] = {{"path", "a/1.jpg"}, {"seconds", 1.5}};
  status["rings"][0]["numa_node"] = 1;
  expect_strict(schema, status, {"/rings/0/rank", "/rings/0/pid", "/rings/0/numa_node", "/producers/0/in_hand"});
  EXPECT_EQ(run_command({"stop"}, {{"FEEDRING_POOL", address}}).code, 0);
}

TEST_F(PoolJson, ARankWhoseAttachFailedMayTryAnotherWay) {
  const std::string address = "feedring-again-test/" + std::to_string(::getpid());
  const Finished started =
      run_command({"start", "-c", config(), "--ranks", "1", "--producers", "1", "--address", address, "--grace", "60"});
  ASSERT_EQ(started.code, 0) << started.err;
  // 12 samples have no step of 100 ranks; the pool has taken this process for the ring's owner by then.
  EXPECT_THROW((void)Feed::attach({.pool = address, .rank = 0, .world_size = 100, .local_rank = 0}), Error);
  Feed feed = Feed::attach({.pool = address, .rank = 0, .world_size = 1, .local_rank = 0});
  EXPECT_TRUE(feed.next());
  EXPECT_EQ(run_command({"stop"}, {{"FEEDRING_POOL", address}}).code, 0);
}

TEST_F(PoolJson, PutsProducersNearTheGpuOfTheirRank) {
  cpu_set_t mine;
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  if (!CPU_ISSET(0, &mine) || !CPU_ISSET(1, &mine)) GTEST_SKIP() << "cores 0 and 1 are not granted here";
  const test::NumaMachine machine(
      {.node0 = {test::NumaMachine::nvidia("0000:81:00.0")}, .node1 = {test::NumaMachine::nvidia("0000:01:00.0")}});
  const json plan = line_of(run_command({"plan", "-c", config(), "--ranks", "2", "--json"}));
  EXPECT_EQ(plan["rank_nodes"], json({1, 0})) << "rank 0 has the GPU of the lower address, which is on node 1";
  const std::string address = "feedring-numa-test/" + std::to_string(::getpid());
  const Finished started =
      run_command({"start", "-c", config(), "--ranks", "2", "--producers", "3", "--address", address, "--grace", "60"});
  ASSERT_EQ(started.code, 0) << started.err;
  const json status = line_of(run_command({"status", "--json"}, {{"FEEDRING_POOL", address}}));
  const int nodes[] = {1, 0};
  for (std::size_t p = 0; p < 3; ++p) {
    cpu_set_t its;
    ASSERT_EQ(::sched_getaffinity(status["producers"][p]["pid"].get<pid_t>(), sizeof its, &its), 0);
    if (p == 2) {
      EXPECT_EQ(CPU_COUNT(&its), CPU_COUNT(&mine)) << "the only core of its node has its producer";
      continue;
    }
    EXPECT_EQ(CPU_COUNT(&its), 1);
    EXPECT_TRUE(CPU_ISSET(nodes[p], &its)) << p;
  }
  EXPECT_EQ(run_command({"stop"}, {{"FEEDRING_POOL", address}}).code, 0);
}

TEST_F(PoolJson, OfEpisodesSaysHowManyAndIsTheSameStreamForAnyRanks) {
  const std::string data = (files_.root() / "data").native();
  const std::vector<std::string> sizes = {"--ways", "2", "--shots", "1", "--queries", "2", "--episodes", "8"};
  const auto run = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.begin() + 1, data);
    words.insert(words.end(), sizes.begin(), sizes.end());
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  const json plan = line_of(run({"plan"}, {"--ranks", "3", "--json"}));
  expect_strict(test::schema_of("plan"), plan, {"/steps/0/episodes", "/pinned/note"});
  EXPECT_EQ(plan["steps"][0]["episodes"], 8);
  EXPECT_EQ(plan["steps"][0]["samples"], 12);
  EXPECT_EQ(plan["steps"][0]["steps"], 2) << "8 episodes for 3 ranks";
  EXPECT_EQ(plan["steps"][0]["left_out"], 2);

  const json schema = test::schema_of("bench");
  const std::vector<std::string> small = {"--size", "8", "--producers", "2", "--epochs", "2", "--json"};
  const json one = line_of(run({"bench", "--ranks", "1", "--batch-size", "4"}, small));
  expect_strict(schema, one, {"/episodes", "/episodes_per_s"});
  EXPECT_EQ(one["episodes"], 2 * 8 - 4) << "but those of the first batch";
  EXPECT_EQ(one["images"], (2 * 8 - 4) * 6) << "2 classes of 1 shot and 2 queries";
  EXPECT_GT(one["episodes_per_s"], 0);
  const json four = line_of(run({"bench", "--ranks", "4", "--batch-size", "1"}, small));
  EXPECT_EQ(four["digest"], one["digest"]);
  EXPECT_NE(one["digest"][0], one["digest"][1]) << "another epoch, other episodes";
}

TEST_F(PoolJson, OfABenchIsAsItsSchemaSays) {
  const json schema = test::schema_of("bench");
  const json timed = line_of(run_command({"bench", "-c", config(), "--producers", "1", "--seconds", "0.3", "--json"}));
  EXPECT_EQ(schema_error(schema, timed), "");
  const json epochs =
      line_of(run_command({"bench", "-c", config(), "--producers", "1", "--ranks", "2", "--epochs", "2", "--json"}));
  expect_strict(schema, epochs);
  EXPECT_EQ(epochs["digest"].size(), 2U);
  EXPECT_EQ(epochs["failed"], 0);
}

}  // namespace
}  // namespace feedring
