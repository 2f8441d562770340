// SPDX-License-Identifier: Apache-2.0
// A file that ends the producers that decode it is tried once more and then given up, by name.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;

class Quarantine : public Scene {
 protected:
  /// Stands for a decoder that a file crashes: every producer that has one of these files in hand gets SIGSEGV, until
  /// each of them is listed as failed. The files are large, so that they are in hand for long.
  void crash_on(const std::set<std::string>& paths) {
    EXPECT_TRUE(eventually([&] {
      for (const pid_t pid : producers_of(supervisor_)) {
        // Stopped first, so that what it holds is still so when the signal comes.
        ::kill(pid, SIGSTOP);
        eventually([&] { return !lives(pid) || process_info(pid)->state == 'T'; }, seconds(5));
        const json now = status();
        for (const json& producer : now.at("producers")) {
          if (producer.at("pid") != pid || !producer.contains("in_hand")) continue;
          if (paths.contains(producer["in_hand"]["path"].get<std::string>())) ::kill(pid, SIGSEGV);
        }
        ::kill(pid, SIGCONT);
      }
      std::set<std::string> listed;
      for (const json& failure : failures()) listed.insert(failure["path"].get<std::string>());
      return listed == paths;
    })) << status().dump();
  }

  [[nodiscard]] std::vector<json> failures() const {
    std::vector<json> list;
    std::ifstream file(folder() / "failures.jsonl");
    for (std::string line; std::getline(file, line);) {
      auto value = json::parse(line, nullptr, false);
      if (value.is_object()) list.push_back(std::move(value));
    }
    return list;
  }

  void start(const std::string& config, const std::string& producers, const std::string& ranks) {
    supervisor_ = start_pool({"-c", config, "--producers", producers, "--ranks", ranks});
  }

  /// A feed that takes whole pictures in their order.
  [[nodiscard]] std::string in_order(const std::string& more) {
    return configure(
        "on_error = \"zero\"\nerror_budget = 1.0\nremainder = \"pad\"\nshuffle = false\n"
        "transform = [ { name = \"Resize\", size = [24, 24] } ]\n" +
            more,
        "failures = \"failures.jsonl\"");
  }

 private:
  pid_t supervisor_ = 0;
};

TEST_F(Quarantine, OfAFileComesWithItsSecondCrashAndTheRunGoesOn) {
  make_pictures(10, 1);
  write_file(data() / "a" / "bad.jpg", jpeg(6000, 6000));
  start(in_order(""), "2", "1");
  Program first = trainer({"--epochs", "100000"});
  crash_on({"a/bad.jpg"});
  first.kill(SIGTERM);
  EXPECT_EQ(first.wait(), 0) << first.err();

  Program rank = trainer({"--epochs", "1"});
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  std::set<std::uint64_t> zeroed;
  std::set<std::uint64_t> delivered;
  for (const json& batch : events(rank, "batch")) {
    for (std::uint32_t row = 0; row < batch["rows"]; ++row) {
      (batch["valid"][row] == 0 ? zeroed : delivered).insert(batch["ids"][row].get<std::uint64_t>());
    }
  }
  // Names in their order: 0.jpg … 9.jpg, bad.jpg.
  EXPECT_EQ(zeroed, (std::set<std::uint64_t>{10}));
  EXPECT_EQ(delivered.size(), 10U);
  // Two crashes; one more where both producers had it in hand, for batches of different epochs, before the second: that
  // one may be counted later than the file is listed.
  EXPECT_THAT(status()["producers_replaced"].get<int>(), testing::AnyOf(2, 3));

  const json failure = failures().at(0);
  EXPECT_EQ(failure["path"], "a/bad.jpg");
  EXPECT_EQ(failure["feed"], "train");
  EXPECT_EQ(failure["outcome"], "zeroed");
  EXPECT_EQ(failure["index"], 10);
  EXPECT_EQ(failure["bytes"], std::filesystem::file_size(data() / "a" / "bad.jpg"));
  EXPECT_THAT(failure["reason"], testing::HasSubstr("quarantined"));
  stop_pool();
}

TEST_F(Quarantine, OfManyFilesInOneTaskDoesNotEndThePool) {
  std::set<std::string> bad;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "bad" + std::to_string(i) + ".jpg";
    write_file(data() / "a" / name, jpeg(4000, 4000, static_cast<unsigned>(i)));
    bad.insert("a/" + name);
  }
  // Eight rings for one producer: one task a slot, so that it dies eight times before it finishes one.
  start(in_order("batch_size = 4\nslots = 1"), "1", "8");
  Program rank = trainer({"--epochs", "100000"});
  crash_on(bad);
  EXPECT_TRUE(status().at("broken").is_null()) << status().at("broken");
  EXPECT_GE(status()["producers_replaced"], 8);
  rank.kill(SIGTERM);
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  stop_pool();
}

}  // namespace
}  // namespace feedring::test
