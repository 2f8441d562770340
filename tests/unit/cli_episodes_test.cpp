// SPDX-License-Identifier: Apache-2.0
// `feedring episodes`: what was drawn once is drawn again from its file, and no other file is taken for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <fstream>
#include <sstream>
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
using testing::AllOf;
using testing::HasSubstr;

class Episodes : public testing::Test {
 protected:
  /// Six classes a … f of four samples: class c has the samples 4 c … 4 c + 3.
  Episodes() {
    for (char name = 'a'; name <= 'f'; ++name)
      for (char sample = '0'; sample <= '3'; ++sample) files_.file("data/" + std::string{name, '/', sample} + ".jpg");
    file_ = (files_.root() / "test.jsonl").native();
    data_ = (files_.root() / "data").native();
  }

  Finished write(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"episodes", "export", data_, "-o", file_, "--episodes", "7", "--seed", "5"};
    for (const char* each : {"--ways", "3", "--shots", "1", "--queries", "2"}) arguments.emplace_back(each);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(file_, std::ios::binary).rdbuf();
    return all.str();
  }
  /// The file with other lines between its first and its last, which says the right digest of them.
  void rewrite(const std::string& first, const std::vector<std::string>& lines) const {
    std::string body = first + '\n';
    for (const std::string& line : lines) body += line + '\n';
    const XXH128_hash_t hash = XXH3_128bits(body.data(), body.size());
    char hex[33];
    std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    files_.text("test.jsonl",
                body + "{\"episodes\":" + std::to_string(lines.size()) + ",\"digest\":\"" + hex + "\"}\n");
  }
  std::string first_line() const { return text().substr(0, text().find('\n')); }
  std::string import_error() const {
    const Finished finished = run_command({"episodes", "import", file_, data_});
    EXPECT_EQ(finished.code, 3) << finished.err << finished.out;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    return finished.err;
  }

  DatasetFiles files_;
  std::string file_;
  std::string data_;
};

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST_F(Episodes, AreWrittenAsDumpListsThem) {
  ASSERT_EQ(write().code, 0);
  const std::vector<json> lines = lines_of(text());
  ASSERT_EQ(lines.size(), 9U);
  const json schema = test::schema_of("episodes");
  for (const json& line : lines) EXPECT_EQ(test::schema_error(schema, line), "");
  const std::vector<json> dumped = run_command({"dump", data_, "--episodes", "7", "--seed", "5", "--ways", "3",
                                                "--shots", "1", "--queries", "2", "--json"})
                                       .lines();
  ASSERT_EQ(dumped.size(), 7U);
  for (std::size_t i = 0; i < 7; ++i)
    for (const char* key : {"ordinal", "classes", "support", "query", "label_map"})
      EXPECT_EQ(lines[i + 1][key], dumped[i][key]) << key;
  EXPECT_EQ(lines[0]["seed"], 5);
  EXPECT_EQ(lines[0]["dataset_digest"],
            run_command({"check", data_, "--json"}).lines().back()["summary"]["dataset_digest"]);
  EXPECT_EQ(lines[8]["episodes"], 7);
  EXPECT_FALSE(std::filesystem::exists(file_ + ".part"));
  const Finished to_output = run_command(
      {"episodes", "export", data_, "--episodes", "7", "--seed", "5", "--ways", "3", "--shots", "1", "--queries", "2"});
  EXPECT_EQ(to_output.out, text());
}

TEST_F(Episodes, AFeedDrawsThoseOfItsFileInEveryEpochWhateverItsSeed) {
  ASSERT_EQ(write({"--epoch", "3"}).code, 0);
  files_.text("feed.toml",
              "[feed.test]\ndata = \"data\"\nseed = 77\nbatch_size = 7\n[feed.test.episodes]\nfile = \"test.jsonl\"\n");
  const std::string config = (files_.root() / "feed.toml").native();
  const std::vector<json> drawn = run_command({"dump", data_, "--episodes", "7", "--seed", "5", "--ways", "3",
                                               "--shots", "1", "--queries", "2", "--epoch", "3", "--json"})
                                      .lines();
  const std::vector<std::vector<std::string>> ways{{"dump", "-c", config, "--json"},
                                                   {"dump", "-c", config, "--epoch", "9", "--json"},
                                                   {"dump", data_, "--episode-file", file_, "--json"}};
  for (const auto& arguments : ways) {
    const Finished finished = run_command(arguments);
    ASSERT_EQ(finished.code, 0) << finished.err;
    const std::vector<json> lines = finished.lines();
    ASSERT_EQ(lines.size(), 7U);
    for (std::size_t i = 0; i < 7; ++i)
      for (const char* key : {"classes", "support", "query", "label_map"}) EXPECT_EQ(lines[i][key], drawn[i][key]);
  }
  const Finished again = run_command({"episodes", "export", "-c", config});
  EXPECT_EQ(lines_of(again.out).at(3), lines_of(text()).at(3));
}

TEST_F(Episodes, CarryVaryingNumbersTurnedClassesAndUnlabelledSamples) {
  files_.text("feed.toml",
              "[feed.a]\ndata = \"data\"\n[feed.a.episodes]\nways = [2, 3]\nshots = [1, 2]\nqueries = 1\nunlabelled = "
              "1\ndistractors = 1\naugment = [\"rotate90\"]\nquery_split = \"uniform\"\ntasks_per_epoch = 40\n"
              "[feed.b]\ndata = \"data\"\nepisodes = { file = \"test.jsonl\" }\n");
  const std::string config = (files_.root() / "feed.toml").native();
  files_.text("test.jsonl", "");
  const Finished early = run_command({"episodes", "export", "-c", config, "-o", file_});
  EXPECT_EQ(early.code, 3) << "feed b has no file yet";
  files_.text("a.toml", [&] {
    std::ifstream stream(config);
    std::string all{std::istreambuf_iterator<char>(stream), {}};
    return all.substr(0, all.find("[feed.b]"));
  }());
  ASSERT_EQ(run_command({"episodes", "export", "-c", (files_.root() / "a.toml").native(), "-o", file_}).code, 0);
  const std::vector<json> a = run_command({"dump", "-c", config, "--json"}).lines();
  const std::vector<json> b = run_command({"dump", "-c", config, "--feed", "b", "--json"}).lines();
  ASSERT_EQ(a.size(), 40U);
  EXPECT_EQ(a, b);
}

TEST_F(Episodes, ImportSaysWhatTheFileHolds) {
  ASSERT_EQ(write().code, 0);
  const Finished finished = run_command({"episodes", "import", file_, data_});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("7 episodes of 3 classes, 1 shots and 2 queries"),
                                  HasSubstr("episodes = { file = \"" + file_ + "\" }")));
  const Finished as_json = run_command({"episodes", "import", file_, data_, "--json"});
  const json line = as_json.lines().at(0);
  EXPECT_EQ(test::schema_error(test::schema_of("episodes_import"), line), "");
  EXPECT_EQ(line["episodes"], 7);
  EXPECT_EQ(line["ways"], json({3, 3}));
  EXPECT_EQ(line["digest"], lines_of(text()).back()["digest"]);
}

TEST_F(Episodes, AChangedOrShortFileOrOtherDataAreRefusedWithASentence) {
  ASSERT_EQ(write().code, 0);
  const std::string whole = text();
  std::string changed = whole;
  const std::size_t at = changed.find("\"label_map\":[") + 13;
  changed[at] = changed[at] == '0' ? '1' : '0';
  files_.text("test.jsonl", changed);
  EXPECT_THAT(import_error(), HasSubstr("it was changed"));
  files_.text("test.jsonl", whole.substr(0, whole.rfind("{\"episodes\"")));
  EXPECT_THAT(import_error(), HasSubstr("its last line is missing"));
  files_.text("test.jsonl", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(import_error(), HasSubstr("it was cut off"));
  files_.text("test.jsonl", whole + "{}\n");
  EXPECT_THAT(import_error(), HasSubstr("there is more behind it"));
  files_.text("test.jsonl", "hello\n");
  EXPECT_THAT(import_error(), HasSubstr("no file that `feedring episodes export` writes"));
  files_.text("test.jsonl", whole);
  files_.file("data/a/1.jpg", 2);
  EXPECT_THAT(import_error(),
              AllOf(HasSubstr("of a data set with the digest"), HasSubstr("export the episodes again")));
  EXPECT_EQ(run_command({"dump", data_, "--episode-file", file_}).code, 3);
  std::filesystem::remove(file_);
  EXPECT_THAT(import_error(), HasSubstr("No such file"));
}

TEST_F(Episodes, ThatTheDataCannotGiveAreRefusedWithTheEpisode) {
  ASSERT_EQ(write().code, 0);
  const std::string first = first_line();
  const auto error_of = [&](const std::string& episode) {
    rewrite(first, {R"({"ordinal":0,"classes":[0,1,2],"support":[[0],[4],[8]],"query":[[1,2],[5,6],[9,10]],)"
                    R"("label_map":[0,1,2]})",
                    episode});
    return import_error();
  };
  const auto line = [](const char* classes, const char* support, const char* query, const char* labels) {
    return R"({"ordinal":1,"classes":)" + std::string(classes) + R"(,"support":)" + support + R"(,"query":)" + query +
           R"(,"label_map":)" + labels + '}';
  };
  const char* query = "[[1,2],[5,6],[9,10]]";
  EXPECT_THAT(error_of(line("[0,1,6]", "[[0],[4],[8]]", query, "[0,1,2]")),
              HasSubstr("episode 1 has class 6, and the data set has 6"));
  EXPECT_THAT(error_of(line("[0,1,1]", "[[0],[4],[7]]", query, "[0,1,2]")), HasSubstr("class 1 twice"));
  EXPECT_THAT(error_of(line("[0,1,2]", "[[0],[4],[7]]", query, "[0,1,2]")), HasSubstr("sample 7 in class 2 (\"c\")"));
  EXPECT_THAT(error_of(line("[0,1,2]", "[[0],[5],[8]]", query, "[0,1,2]")), HasSubstr("sample 5 of class 1 twice"));
  EXPECT_THAT(error_of(line("[0,1,2]", "[[0],[4],[8]]", query, "[0,1,1]")), HasSubstr("has labels that"));
  EXPECT_THAT(error_of(line("[0,1]", "[[0],[4]]", "[[1,2],[5,6]]", "[0,1]")), HasSubstr("has 2 classes"));
  EXPECT_THAT(error_of(line("[0,1,2]", "[[0],[4],[8]]", "[[1],[5,6],[9,10]]", "[0,1,2]")),
              HasSubstr("1 shots and 1 queries of a class"));
  EXPECT_THAT(error_of(line("[0,1,2]", "[[0],[4]]", query, "[0,1,2]")), HasSubstr("line 3 has not one list"));
  EXPECT_THAT(error_of(line("[0,1,-2]", "[[0],[4],[8]]", query, "[0,1,2]")), HasSubstr("line 3 has -2 where"));
  EXPECT_THAT(error_of(line("[0,1,2]", "[[0.5],[4],[8]]", query, "[0,1,2]")), HasSubstr("line 3 has 0.5 where"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("line 3 is no JSON object"));
  EXPECT_THAT(error_of(R"({"ordinal":5})"), HasSubstr("line 3 is not that of the ordinal 1"));
  EXPECT_THAT(error_of(R"({"ordinal":1})"), HasSubstr("line 3 has no list \"classes\""));
}

TEST_F(Episodes, OfAFileLeaveNothingElseToSay) {
  ASSERT_EQ(write().code, 0);
  files_.text("feed.toml", "[feed.a]\ndata = \"data\"\nepisodes = { file = \"test.jsonl\", ways = 3 }\n");
  const Finished both = run_command({"dump", "-c", (files_.root() / "feed.toml").native()});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("feed.toml:3: [feed.a.episodes] has a file, whose episodes are taken as they are: "
                                  "leave \"ways\" out"));
  EXPECT_EQ(run_command({"dump", data_, "--episode-file", file_, "--ways", "3"}).code, 2);
  EXPECT_EQ(run_command({"episodes", "export", data_}).code, 2) << "a folder has samples";
  EXPECT_EQ(run_command({"episodes"}).code, 2);
}

}  // namespace
}  // namespace feedring
