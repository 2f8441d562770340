// SPDX-License-Identifier: Apache-2.0
// `feedring dump` of episodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/json_schema.hpp"
#include "tests/support/program.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_command;
using testing::HasSubstr;

class DumpEpisodes : public testing::Test {
 protected:
  /// Six classes a … f of four samples: class c has the samples 4 c … 4 c + 3.
  DumpEpisodes() {
    for (char name = 'a'; name <= 'f'; ++name)
      for (char sample = '0'; sample <= '3'; ++sample) files_.file(std::string{name, '/', sample} + ".jpg");
  }

  Finished dump(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"dump", files_.root().native(), "--ways", "3", "--shots", "1", "--queries", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }
  std::vector<json> lines(std::vector<std::string> more) const {
    static const json schema = test::schema_of("dump_episodes");
    more.emplace_back("--json");
    const Finished finished = dump(more);
    EXPECT_EQ(finished.code, 0) << finished.err;
    const std::vector<json> parsed = finished.lines();
    for (const json& line : parsed) EXPECT_EQ(test::schema_error(schema, line), "");
    return parsed;
  }
  /// What training would see of an episode, whoever gets it.
  static std::string content(const json& line) {
    return line["classes"].dump() + line["support"].dump() + line["query"].dump() + line["label_map"].dump();
  }

  DatasetFiles files_;
};

TEST_F(DumpEpisodes, ListsEpisodesOfDistinctClassesAndTheirOwnSamples) {
  const std::vector<json> all = lines({"--episodes", "20", "--seed", "4"});
  ASSERT_EQ(all.size(), 20U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const json& line = all[i];
    EXPECT_EQ(line["epoch"], 0);
    EXPECT_EQ(line["ordinal"], i);
    EXPECT_EQ(line["step"], i) << "one episode a step unless told otherwise";
    EXPECT_EQ(line["rank"], 0);
    EXPECT_EQ(line["valid"], true);
    ASSERT_EQ(line["classes"].size(), 3U);
    EXPECT_EQ(line["label_map"].get<std::set<int>>(), (std::set<int>{0, 1, 2}));
    ASSERT_EQ(line["support"].size(), 3U);
    ASSERT_EQ(line["query"].size(), 3U);
    std::set<int> samples;
    for (std::size_t j = 0; j < 3; ++j) {
      ASSERT_EQ(line["support"][j].size(), 1U);
      ASSERT_EQ(line["query"][j].size(), 2U);
      for (const char* set : {"support", "query"})
        for (const int sample : line[set][j].get<std::vector<int>>()) {
          EXPECT_EQ(sample / 4, line["classes"][j].get<int>());
          samples.insert(sample);
        }
    }
    EXPECT_EQ(samples.size(), 9U);
  }
}

// M = 7, G = 4: step 1 has three episodes for two ranks, two and one, and the last row repeats episode 0.
TEST_F(DumpEpisodes, SharesStepsAsSamplesAreShared) {
  std::vector<std::string> brief;
  for (const json& line : lines({"--episodes", "7", "--batch-size", "2", "--world", "2", "--remainder", "pad"}))
    brief.push_back(line["step"].dump() + '.' + line["rank"].dump() + ':' + line["ordinal"].dump() +
                    (line["valid"] ? "" : "*"));
  EXPECT_THAT(brief, testing::ElementsAre("0.0:0", "0.0:1", "0.1:2", "0.1:3", "1.0:4", "1.0:5", "1.1:6", "1.1:0*"));
}

TEST_F(DumpEpisodes, HasTheSameEpisodesInAStepForEveryWorldSize) {
  const auto steps = [&](const char* world, const char* batch) {
    std::map<int, std::map<int, std::string>> by_step;
    for (const json& line : lines({"--episodes", "24", "--world", world, "--batch-size", batch, "--epoch", "2"}))
      by_step[line["step"]][line["ordinal"]] = content(line);
    return by_step;
  };
  const auto alone = steps("1", "8");
  ASSERT_EQ(alone.size(), 3U);
  EXPECT_EQ(steps("2", "4"), alone);
  EXPECT_EQ(steps("8", "1"), alone);
}

TEST_F(DumpEpisodes, ShowsOneRankAndDrawsAnewUnderAnotherSeedOrEpoch) {
  std::set<std::string> seen;
  for (const char* seed : {"0", "1"})
    for (const char* epoch : {"0", "1"})
      for (const json& line :
           lines({"--episodes", "4", "--world", "2", "--rank", "1", "--seed", seed, "--epoch", epoch})) {
        EXPECT_EQ(line["rank"], 1);
        seen.insert(content(line));
      }
  EXPECT_EQ(seen.size(), 8U);
}

TEST_F(DumpEpisodes, TakesTheFeedsEpisodesFromAConfiguration) {
  files_.text("feed.toml",
              "[feed.test]\ndata = \".\"\nbatch_size = 5\n[feed.test.episodes]\nways = 2\nqueries = 1\n"
              "classes = \"enumerate\"\nlabel_map = \"sorted\"\nunlabelled = 2\n");
  const std::string file = (files_.root() / "feed.toml").native();
  static const json schema = test::schema_of("dump_episodes");
  std::set<std::set<int>> sets;
  const Finished finished = run_command({"dump", "-c", file, "--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  for (const json& line : finished.lines()) {
    EXPECT_EQ(test::schema_error(schema, line), "");
    sets.insert(line["classes"].get<std::set<int>>());
    EXPECT_EQ(line["label_map"][0], line["classes"][0] < line["classes"][1] ? 0 : 1);
    EXPECT_EQ(line["unlabelled"][1].size(), 2U);
  }
  EXPECT_EQ(sets.size(), 15U) << "all pairs of six classes";
  EXPECT_EQ(run_command({"dump", "-c", file, "--epoch", "5"}).out, [&] {
    std::string text = run_command({"dump", "-c", file}).out;  // a feed called test has the same ones in every epoch
    for (std::size_t at = 0; (at = text.find("\n0\t", at)) != std::string::npos; ++at) text[at + 1] = '5';
    return text;
  }());
}

TEST_F(DumpEpisodes, SaysWhatCannotBeHad) {
  const Finished small = run_command({"dump", files_.root().native(), "--ways", "2", "--shots", "3", "--queries", "2"});
  EXPECT_EQ(small.code, 3);
  EXPECT_THAT(small.err, HasSubstr("6 of 6 classes have fewer than the 5 samples"));
  EXPECT_THAT(small.err, HasSubstr("at most queries = 1 with shots = 3"));
  const Finished few = run_command({"dump", files_.root().native(), "--ways", "7", "--queries", "1"});
  EXPECT_EQ(few.code, 3);
  EXPECT_THAT(few.err, HasSubstr("at most ways = 6"));
  EXPECT_EQ(dump({"--episodes", "3", "--batch-size", "4"}).code, 2);
  EXPECT_EQ(dump({"--plan"}).code, 2);
  EXPECT_EQ(dump({"--episodes", "0"}).code, 2);
}

}  // namespace
}  // namespace feedring
