// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/jpeg_writer.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/program.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_command;
using testing::HasSubstr;

class Dump : public testing::Test {
 protected:
  /// Five samples of two classes, in this order: a/0, a/1, a/2, b/3, b/4.
  Dump() {
    for (const char* path : {"a/0.jpg", "a/1.jpg", "a/2.jpg", "b/3.jpg", "b/4.jpg"}) files_.file(path);
    files_.text("feed.toml",
                "[feed.train]\ndata = \"data/..\"\nbatch_size = 2\nshuffle = false\nremainder = \"pad\"\n"
                "[feed.all]\ndata = \".\"\nbatch_size = 2\nshuffle = false\nshard = \"none\"\n");
    files_.folder("data");
  }

  static std::vector<json> lines_of(const Finished& finished) {
    static const json schema = test::schema_of("dump");
    EXPECT_EQ(finished.code, 0) << finished.err;
    const std::vector<json> lines = finished.lines();
    for (const json& line : lines) EXPECT_EQ(test::schema_error(schema, line), "");
    return lines;
  }
  [[nodiscard]] std::vector<json> configured(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"dump", "-c", (files_.root() / "feed.toml").native(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return lines_of(run_command(arguments));
  }
  [[nodiscard]] std::vector<json> plain(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"dump", files_.root().native(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return lines_of(run_command(arguments));
  }
  /// "step.rank:ordinal=path", and "*" behind a row that is not valid.
  static std::vector<std::string> brief(const std::vector<json>& lines) {
    std::vector<std::string> texts;
    for (const json& line : lines) {
      texts.push_back(line["step"].dump() + '.' + line["rank"].dump() + ':' + line["ordinal"].dump() + '=' +
                      line["path"].get<std::string>() + (line["valid"] ? "" : "*"));
    }
    return texts;
  }

  DatasetFiles files_;
};

TEST_F(Dump, SaysEverythingOfARow) {
  EXPECT_EQ(configured({"--steps", "0:1", "--rank", "1", "--world", "2", "--epoch", "7"}).at(1),
            json::parse(R"({"epoch": 7, "step": 0, "rank": 1, "ordinal": 3, "index": 3, "path": "b/3.jpg", "label": 1,
                            "class": "b", "valid": true})"));
}

// By hand: M = 5, G = 4, so step 1 has one sample for two ranks, and repeats count from the epoch's start.
TEST_F(Dump, PadsTheLastStep) {
  EXPECT_THAT(brief(configured({"--world", "2"})),
              testing::ElementsAre("0.0:0=a/0.jpg", "0.0:1=a/1.jpg", "0.1:2=a/2.jpg", "0.1:3=b/3.jpg", "1.0:4=b/4.jpg",
                                   "1.0:0=a/0.jpg*", "1.1:0=a/0.jpg*", "1.1:1=a/1.jpg*"));
}

TEST_F(Dump, ObeysTheArgumentsBeforeTheFile) {
  EXPECT_THAT(brief(configured({"--world", "2", "--remainder", "drop"})),
              testing::ElementsAre("0.0:0=a/0.jpg", "0.0:1=a/1.jpg", "0.1:2=a/2.jpg", "0.1:3=b/3.jpg"));
  EXPECT_THAT(
      brief(configured({"--batch-size", "5", "--remainder", "exact", "--rank", "0"})),
      testing::ElementsAre("0.0:0=a/0.jpg", "0.0:1=a/1.jpg", "0.0:2=a/2.jpg", "0.0:3=b/3.jpg", "0.0:4=b/4.jpg"));
  EXPECT_EQ(run_command({"dump", files_.root().native(), "--batch-size", "2", "--remainder", "exact"}).code, 2);
}

TEST_F(Dump, ShowsEveryRankAllOfAFeedThatIsNotSharded) {
  EXPECT_THAT(brief(configured({"--feed", "all", "--world", "2", "--steps", "1:2"})),
              testing::ElementsAre("1.0:2=a/2.jpg", "1.0:3=b/3.jpg", "1.1:2=a/2.jpg", "1.1:3=b/3.jpg"));
}

TEST_F(Dump, CutsOutSteps) {
  const auto steps = [&](const char* range) {
    std::set<int> seen;
    for (const json& line : configured({"--batch-size", "1", "--steps", range})) seen.insert(line["step"].get<int>());
    return seen;
  };
  EXPECT_EQ(steps("1:3"), (std::set<int>{1, 2}));
  EXPECT_EQ(steps(":2"), (std::set<int>{0, 1}));
  EXPECT_EQ(steps("3:"), (std::set<int>{3, 4}));
  EXPECT_EQ(steps("4:99"), (std::set<int>{4}));
  EXPECT_EQ(steps("3:2"), (std::set<int>{}));
  for (const char* wrong : {"1", "a:b", "1:2:3", "-1:2", "1-2"}) {
    EXPECT_EQ(run_command({"dump", files_.root().native(), "--steps", wrong, "--batch-size", "1"}).code, 2) << wrong;
  }
}

TEST_F(Dump, ShufflesEachEpochAnewAndRanksShareTheOrder) {
  const auto order = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"--batch-size", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::map<int, std::string> by_ordinal;
    for (const json& line : plain(arguments)) by_ordinal[line["ordinal"].get<int>()] = line["path"];
    return by_ordinal;
  };
  const auto epoch0 = order({"--seed", "3"});
  EXPECT_EQ(epoch0.size(), 5U);
  EXPECT_EQ(order({"--seed", "3", "--world", "5"}), epoch0);
  std::set<std::map<int, std::string>> orders;
  for (int epoch = 0; epoch < 12; ++epoch) orders.insert(order({"--seed", "3", "--epoch", std::to_string(epoch)}));
  EXPECT_GT(orders.size(), 6U) << "of 120 possible ones, 12 draws are hardly ever the same";
}

TEST_F(Dump, AddsTheRandomChoicesOfEachView) {
  const DatasetFiles files;
  test::JpegShape shape;
  shape.width = 64;
  shape.height = 48;
  const auto bytes = test::write_jpeg(shape);
  files.text("data/1.jpg", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const char* kCrop = "transform = [ { name = \"RandomResizedCrop\", size = 8 } ]";
  const auto plan = [&](const std::string& lines) {
    files.text("feed.toml", "[feed.train]\ndata = \"data\"\nbatch_size = 1\n" + lines);
    const std::vector<json> all = lines_of(
        run_command({"dump", "-c", (files.root() / "feed.toml").native(), "--json", "--plan", "--epoch", "3"}));
    return all.at(0)["plan"];
  };
  const json views = plan(std::string("views = { b = { count = 2, ") + kCrop + " }, a = { " + kCrop + " } }\n");
  ASSERT_EQ(views.size(), 3U);
  EXPECT_EQ(views[0]["view"], "b") << "in the file's order";
  EXPECT_EQ(views[1]["view"], "b");
  EXPECT_EQ(views[2]["view"], "a");
  EXPECT_EQ(views[0]["drawn"], plan(kCrop)) << "the first draws what one alone does";
  EXPECT_NE(views[0]["drawn"], views[1]["drawn"]);
  EXPECT_NE(views[1]["drawn"], views[2]["drawn"]);
}

TEST_F(Dump, AddsRandomChoices) {
  const DatasetFiles files;
  test::JpegShape shape;
  shape.width = 64;
  shape.height = 48;
  const auto bytes = test::write_jpeg(shape);
  files.text("1.jpg", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  files.text("2.jpg", "<html>");
  const std::vector<json> lines =
      lines_of(run_command({"dump", files.root().native(), "--batch-size", "2", "--json", "--plan"}));
  ASSERT_EQ(lines.size(), 2U);
  const json& good = lines[lines[0]["path"] == "1.jpg" ? 0 : 1];
  const json& bad = lines[lines[0]["path"] == "1.jpg" ? 1 : 0];
  ASSERT_EQ(good["plan"].size(), 2U);
  const json crop = good["plan"][0]["crop"];
  EXPECT_GE(crop["x"], 0);
  EXPECT_LE(crop["x"].get<int>() + crop["width"].get<int>(), 64);
  EXPECT_LE(crop["y"].get<int>() + crop["height"].get<int>(), 48);
  EXPECT_TRUE(good["plan"][1]["flip"].is_boolean());
  EXPECT_EQ(bad["plan"], nullptr);
  EXPECT_THAT(bad["fault"].get<std::string>(), HasSubstr("HTML"));
}

TEST_F(Dump, ReadsAsATableToo) {
  const Finished finished =
      run_command({"dump", "-c", (files_.root() / "feed.toml").native(), "--steps", "0:1", "--rank", "0"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.out,
            "epoch\tstep\trank\tordinal\tindex\tlabel\tvalid\tpath\n"
            "0\t0\t0\t0\t0\t0\ttrue\ta/0.jpg\n"
            "0\t0\t0\t1\t1\t0\ttrue\ta/1.jpg\n");
}

TEST_F(Dump, RefusesWhatCannotBe) {
  const std::string root = files_.root().native();
  EXPECT_THAT(run_command({"dump", root, "--world", "2", "--rank", "2"}).err, HasSubstr("none of the ranks 0 to 1"));
  const Finished finished = run_command({"dump", root, "--batch-size", "6"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err,
              HasSubstr("leaves nothing of the 5 samples, because one step takes 6 (1 ranks x batch size 6)"));
}

TEST_F(Dump, TakesClassNumbersFromAnotherFeed) {
  files_.file("val/b/9.jpg");
  files_.text("two.toml",
              "[feed.val]\ndata = \"val\"\nclasses_from = \"train\"\nbatch_size = 1\n[feed.train]\ndata = \"train\"\n");
  files_.file("train/a/1.jpg");
  files_.file("train/b/2.jpg");
  const std::vector<json> lines =
      lines_of(run_command({"dump", "-c", (files_.root() / "two.toml").native(), "--json"}));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["label"], 1) << "b is class 1 of train, and would be class 0 of val alone";
}

}  // namespace
}  // namespace feedring
