// SPDX-License-Identifier: Apache-2.0
// What holds for every command: help, errors of one sentence, exit codes; and the validator that other tests lean on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/json_schema.hpp"
#include "tests/support/program.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using test::Finished;
using test::run_command;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// One sentence on standard error, nothing on standard output, and the exit code.
void expect_complaint(const Finished& finished, int code, const std::string& part) {
  EXPECT_EQ(finished.code, code) << finished.err;
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, AllOf(StartsWith("feedring: "), HasSubstr(part), EndsWith("\n")));
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
}

TEST(Command, TellsItsVersion) {
  const Finished finished = run_command({"--version"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, testing::MatchesRegex("feedring [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(finished.err, IsEmpty());
}

TEST(Command, ShowsExamplesBeforeOptions) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"check", "--help"}, {"dump", "-h"}}) {
    const Finished finished = run_command(arguments);
    EXPECT_EQ(finished.code, 0);
    EXPECT_THAT(finished.err, IsEmpty());
    const std::size_t examples = finished.out.find("Examples:\n  feedring ");
    EXPECT_NE(examples, std::string::npos) << finished.out;
    EXPECT_LT(examples, finished.out.find("Options:")) << finished.out;
  }
  EXPECT_THAT(run_command({"--help"}).out, HasSubstr("71 not enough memory"));
}

TEST(Command, NamesWhatIsWrongWithItsArguments) {
  expect_complaint(run_command({}), 2, "feedring --help");
  expect_complaint(run_command({"chek"}), 2, "no command \"chek\"; did you mean \"check\"?");
  expect_complaint(run_command({"zzz"}), 2, "no command \"zzz\"");
  expect_complaint(run_command({"check"}), 2, "no feed is given");
  expect_complaint(run_command({"check", ".", "--jason"}), 2, "--jason");
  expect_complaint(run_command({"dump", ".", "--batch-size", "0"}), 2, "--batch-size");
  expect_complaint(run_command({"dump", ".", "--batch-size", "-1"}), 2, "-1");
  expect_complaint(run_command({"dump", ".", "--world", "two"}), 2, "two");
  expect_complaint(run_command({"dump", ".", "--remainder", "keep"}), 2, "keep");
}

TEST(Command, SuggestsTheOptionThatWasMeant) {
  const auto says = [](std::vector<std::string> arguments, const std::string& sentence) {
    expect_complaint(run_command(std::move(arguments)), 2, sentence);
  };
  says({"start", ".", "--prodcers", "4"},
       "unknown option --prodcers; did you mean --producers? (see feedring start --help)");
  says({"start", ".", "--prodcers=4"}, "unknown option --prodcers; did you mean --producers?");
  says({"check", ".", "--jason"}, "unknown option --jason; did you mean --json?");
  says({"decode", "--siez", "224"}, "unknown option --siez; did you mean --size? (see feedring decode --help)");
  says({"run", "-c", "feed.toml", "--prodcers", "2", "--", "true"}, "did you mean --producers?");
  says({"episodes", "export", ".", "--wys", "5"}, "did you mean --ways? (see feedring episodes export --help)");
  says({"--verson"}, "unknown option --verson; did you mean --version? (see feedring --help)");
  says({"check", ".", "--zzzzzz"}, "unknown option --zzzzzz (see feedring check --help)");
  says({"check", ".", "-x"}, "unknown option -x (see feedring check --help)");
  says({"start", ".", "--from-rnk"}, "unknown option --from-rnk (see");  // what is not shown is not suggested
  says({"run", "--nproc-per-node", "0", "--", "--zzz"}, "--nproc-per-node");
  says({"check", ".", "--", "--jason"}, "not expected: --jason");
  says({"check", ".", "more"}, "The following argument was not expected: more (see feedring check --help)");
}

TEST(Command, KeepsControlCharactersOfANameFromTheTerminal) {
  const Finished finished = run_command({"check", "no\x1b[31m\nsuch\xff"});
  expect_complaint(finished, 3, "no\\x1b[31m\\x0asuch\xEF\xBF\xBD");
}

TEST(Command, RefusesALogLevelThatThereIsNot) {
  expect_complaint(run_command({"check", "."}, {{"FEEDRING_LOG", "loud"}}), 2, "FEEDRING_LOG=\"loud\"");
}

TEST(FeedChoice, WantsAFolderOrAConfiguration) {
  const DatasetFiles files;
  files.text("a/1.jpg", "x");
  files.text("feed.toml", "[feed.train]\ndata = \"a\"\n[feed.val]\ndata = \"a\"\nshuffle = false\n");
  files.text("bad.toml", "[feed.train]\ndata = \"a\"\nslot = 2\n");
  const std::string root = files.root().native();
  expect_complaint(run_command({"dump"}), 2, "no feed is given");
  expect_complaint(run_command({"dump", root, "-c", root + "/feed.toml"}), 2, "leave one out");
  expect_complaint(run_command({"dump", root + "/feed.toml"}), 2, "give it with -c");
  expect_complaint(run_command({"dump", "-c", root + "/bad.toml"}), 2,
                   "bad.toml:3: unknown key \"slot\" in [feed.train]; did you mean \"slots\"?");
  expect_complaint(run_command({"dump", "-c", root + "/feed.toml", "--feed", "vall"}), 2, "did you mean \"val\"?");
  expect_complaint(run_command({"dump", root, "--feed", "val"}), 2, "whose one feed is \"train\"");
  expect_complaint(run_command({"dump", root + "/none"}), 3, "none");
  const std::vector<std::string> rest{"--batch-size", "1", "--json"};
  EXPECT_EQ(run_command({"dump", "-c", root + "/feed.toml", "--feed", "val", "--batch-size", "1", "--json"}).code, 0);
  const Finished by_variable =
      run_command({"dump", "--batch-size", "1", "--json"}, {{"FEEDRING_CONFIG", root + "/feed.toml"}});
  EXPECT_EQ(by_variable.code, 0) << by_variable.err;
  EXPECT_EQ(by_variable.lines().size(), 1U);
}

TEST(Command, SaysSoWhenItsOutputIsLost) {
  const DatasetFiles files;
  files.text("a/1.jpg", "x");
  const std::string line = std::string(FEEDRING_COMMAND) + " dump '" + files.root().native() +
                           "' --batch-size 1 --json > /dev/full 2> '" + (files.root() / "err").native() + '\'';
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 70);
  std::ifstream err(files.root() / "err");
  std::string sentence;
  std::getline(err, sentence);
  EXPECT_THAT(sentence, HasSubstr("cannot write to standard output: No space left on device"));
}

TEST(JsonSchema, CanFail) {
  const auto schema = nlohmann::json::parse(R"({"type": "object", "required": ["a"], "additionalProperties": false,
      "properties": {"a": {"type": ["integer", "null"], "minimum": 1, "maximum": 9}, "b": {"enum": ["x"]},
                     "c": {"items": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}}})");
  const auto error = [&](const char* value) { return test::schema_error(schema, nlohmann::json::parse(value)); };
  EXPECT_EQ(error(R"({"a": 1, "b": "x", "c": ["s", 2]})"), "");
  EXPECT_EQ(error(R"({"a": null})"), "");
  for (const char* wrong : {"[]", "{}", R"({"a": 0})", R"({"a": 10})", R"({"a": 1.5})", R"({"a": "1"})",
                            R"({"a": 1, "b": "y"})", R"({"a": 1, "c": [true]})", R"({"a": 1, "d": 1})"}) {
    EXPECT_NE(error(wrong), "") << wrong;
  }
  EXPECT_NE(test::schema_error(nlohmann::json::parse(R"({"multipleOf": 3})"), 2), "") << "an unknown keyword";
}

}  // namespace
}  // namespace feedring
