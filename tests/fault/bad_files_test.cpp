// SPDX-License-Identifier: Apache-2.0
// Files that cannot be decoded, through the whole path: what each policy delivers, and that every failure has a name.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class BadFiles : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    make_pictures(18, 2);
    const std::string whole = jpeg(96, 64);
    write_file(data() / "a" / "truncated.jpg", whole.substr(0, whole.size() / 2));
    write_file(data() / "b" / "text.jpg", "This is no picture.\n");
    write_file(data() / "b" / "empty.jpg", "");  // left out of the data set, so that 20 files are in it
  }

  [[nodiscard]] std::vector<json> failures() const {
    std::vector<json> list;
    std::ifstream file(folder() / "failures.jsonl");
    for (std::string line; std::getline(file, line);) list.push_back(json::parse(line));
    return list;
  }
  [[nodiscard]] std::set<std::string> failed_paths() const {
    std::set<std::string> paths;
    for (const json& failure : failures()) paths.insert(failure.at("path").get<std::string>());
    return paths;
  }
  static std::vector<std::string> bench(const std::string& config, int epochs, int producers) {
    return {"bench", "-c", config, "--epochs", std::to_string(epochs), "--producers", std::to_string(producers),
            "--json"};
  }
};

TEST_F(BadFiles, BecomeZerosUnderZeroAndAreListedByName) {
  Program program =
      ran(bench(configure("on_error = \"zero\"\nerror_budget = 0.5", "failures = \"failures.jsonl\""), 2, 2));
  ASSERT_EQ(program.wait(), 0) << program.err();
  const json result = program.lines().at(0);
  EXPECT_EQ(result["failed"], 4) << "two files, two epochs";
  EXPECT_EQ(result["digest"].size(), 2U);
  EXPECT_EQ(failed_paths(), (std::set<std::string>{"a/truncated.jpg", "b/text.jpg"}));
  for (const json& failure : failures()) {
    EXPECT_EQ(failure["feed"], "train");
    EXPECT_EQ(failure["outcome"], "zeroed");
    EXPECT_EQ(failure["bytes"], std::filesystem::file_size(data() / failure["path"].get<std::string>()));
    EXPECT_FALSE(failure["reason"].get<std::string>().empty());
    EXPECT_TRUE(failure["index"].is_number_unsigned());
    EXPECT_TRUE(failure["epoch"].is_number_unsigned());
    EXPECT_TRUE(failure["ordinal"].is_number_unsigned());
  }
  EXPECT_THAT(program.err(), HasSubstr("a/truncated.jpg"));
}

TEST_F(BadFiles, EndTheRankUnderRaiseWithTheirName) {
  const std::string config = configure("on_error = \"raise\"", "failures = \"failures.jsonl\"");
  for (int round = 0; round < 3; ++round) {
    std::filesystem::remove(folder() / "failures.jsonl");
    Program program = ran({"run", "-c", config, "--producers", "2", "--", trainer_program(), "--epochs", "1"});
    EXPECT_EQ(program.wait(), 3) << program.err();
    EXPECT_THAT(program.err(), testing::AnyOf(HasSubstr("trainer: feed 'train', rank 0: 1 of 4 samples"),
                                              HasSubstr("2 of 4 samples")));
    EXPECT_THAT(program.err(), testing::AnyOf(HasSubstr("a/truncated.jpg"), HasSubstr("b/text.jpg")));
    // What ended the rank is in the list, although the pool ended with it.
    bool listed = false;
    for (const std::string& path : failed_paths()) listed = listed || program.err().find(path) != std::string::npos;
    EXPECT_TRUE(listed) << failures().size() << " lines";
  }
}

TEST_F(BadFiles, EndTheRankBeyondTheBudget) {
  const std::string config = configure("on_error = \"zero\"\nerror_budget = 0.05");
  Program program = ran({"run", "-c", config, "--", trainer_program(), "--epochs", "1"});
  EXPECT_EQ(program.wait(), 3);
  EXPECT_THAT(program.err(), HasSubstr("2 samples of epoch 0 failed"));
  EXPECT_THAT(program.err(), HasSubstr("error_budget"));
  EXPECT_THAT(program.err(), HasSubstr("feedring check"));
}

TEST_F(BadFiles, AreReplacedTheSameWayByWhoeverMeetsThem) {
  const std::string config = configure("on_error = \"replace\"\nerror_budget = 0.5", "failures = \"failures.jsonl\"");
  Program one = ran(bench(config, 2, 1));
  Program three = ran(bench(config, 2, 3));
  ASSERT_EQ(one.wait(), 0) << one.err();
  ASSERT_EQ(three.wait(), 0) << three.err();
  EXPECT_EQ(one.lines().at(0)["digest"], three.lines().at(0)["digest"]);
  EXPECT_EQ(one.lines()[0]["failed"], 4);
  EXPECT_EQ(failures().at(0)["outcome"], "replaced");

  Program rank = ran({"run", "-c", config, "--", trainer_program(), "--epochs", "1"});
  ASSERT_EQ(rank.wait(), 0) << rank.err();
  std::map<std::uint64_t, json> planned;
  std::map<std::uint64_t, std::uint64_t> label_of;
  for (const json& line : ran({"dump", "-c", config, "--json"}).lines()) {
    planned[line["ordinal"]] = line;
    label_of[line["index"]] = line["label"];
  }
  int replaced = 0;
  for (const json& batch : events(rank, "batch")) {
    for (std::uint32_t row = 0; row < batch["rows"]; ++row) {
      const json& plan = planned.at(batch["first"].get<std::uint64_t>() + row);
      const std::uint64_t id = batch["ids"][row];
      EXPECT_EQ(batch["valid"][row], 1);
      EXPECT_EQ(batch["labels"][row], plan["label"]) << "of the class that was planned";
      EXPECT_EQ(label_of.at(id), plan["label"]);
      replaced += id != plan["index"] ? 1 : 0;
      EXPECT_EQ(id != plan["index"], plan["path"] == "a/truncated.jpg" || plan["path"] == "b/text.jpg") << plan;
    }
  }
  EXPECT_EQ(replaced, 2);
}

TEST_F(BadFiles, ThatAreBeingReportedWhenThePoolEndsAreListedAndMakeNoNoise) {
  for (int i = 0; i < 300; ++i) write_file(data() / "c" / (std::to_string(i) + ".jpg"), "no picture");
  const std::string config =
      configure("on_error = \"zero\"\nerror_budget = 1.0\nbatch_size = 32", "failures = \"failures.jsonl\"");
  for (int round = 0; round < 6; ++round) {
    std::filesystem::remove(folder() / "failures.jsonl");
    Program program =
        ran({"run", "-c", config, "--producers", "3", "--", trainer_program(), "--batches", std::to_string(2 + round)});
    EXPECT_EQ(program.wait(), 0);
    EXPECT_THAT(program.err(), testing::Not(HasSubstr("terminate"))) << "a producer ended badly";
    // Whatever was delivered as zeros has its line, although the pool ended at once.
    std::set<std::uint64_t> listed;
    for (const json& failure : failures()) listed.insert(failure["index"].get<std::uint64_t>());
    for (const json& batch : events(program, "batch")) {
      for (std::uint32_t row = 0; row < batch["rows"]; ++row) {
        if (batch["valid"][row] == 1) continue;
        EXPECT_TRUE(listed.contains(batch["ids"][row].get<std::uint64_t>())) << batch["ids"][row];
      }
    }
  }
}

}  // namespace
}  // namespace feedring::test
