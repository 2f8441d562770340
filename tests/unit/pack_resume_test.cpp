// SPDX-License-Identifier: Apache-2.0
// An import that is killed at any place, and goes on: the pack is the one that an import in one go makes.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <feedring/error.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "dataset_files.hpp"
#include "producers/pack/pack.hpp"

namespace feedring {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kClasses = 6, kEach = 5, kBytes = 100'000;  // a class is more than the least step

/// Items of bytes that are made here, said to come from a file.
class Made : public pack::Source {
 public:
  explicit Made(fs::path origin) : origin_(std::move(origin)) {}

  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }
  [[nodiscard]] std::uint64_t items() const override { return kClasses * kEach; }
  [[nodiscard]] std::uint32_t label(std::uint64_t number) const override {
    return static_cast<std::uint32_t>(number / kEach);
  }
  [[nodiscard]] std::uint64_t bytes() const override { return items() * kBytes; }
  [[nodiscard]] std::string name(std::uint64_t number) override {
    EXPECT_EQ(number, named_++) << "each once, in their order";
    return classes_[label(number)] + '/' + std::to_string(number) + ".ppm";
  }
  [[nodiscard]] std::span<const std::uint8_t> read(std::uint64_t number) override {
    before_read(number);
    ++reads;
    bytes_.assign(kBytes, static_cast<std::uint8_t>(number + salt));
    return bytes_;
  }
  [[nodiscard]] fs::path origin(std::uint64_t /*number*/) const override { return origin_; }

  std::function<void(std::uint64_t)> before_read = [](std::uint64_t) {};
  std::uint64_t reads = 0;
  std::uint8_t salt = 1;

 private:
  std::vector<std::string> classes_ = {"a", "b", "c", "d", "e", "f"};
  fs::path origin_;
  std::uint64_t named_ = 0;
  std::vector<std::uint8_t> bytes_;
};

class PackResume : public testing::Test {
 protected:
  PackResume() {
    files_.text("origin", "as it was");
    Made made(origin());
    whole_ = pack::write_pack(made, files_.root() / "whole.tar", [](std::uint64_t) {}).dataset_digest;
  }
  [[nodiscard]] fs::path origin() const { return files_.root() / "origin"; }
  [[nodiscard]] fs::path target() const { return files_.root() / "pack.tar"; }
  [[nodiscard]] fs::path part() const { return files_.root() / "pack.tar.part"; }
  [[nodiscard]] fs::path journal() const { return files_.root() / "pack.tar.part.journal"; }

  /// Imports in a child, which kills itself before it reads item `at`.
  void die_at(std::uint64_t at) const {
    const pid_t child = ::fork();
    if (child == 0) {
      Made made(origin());
      made.before_read = [at](std::uint64_t number) {
        if (number == at) ::kill(::getpid(), SIGKILL);
      };
      (void)pack::write_pack(made, target(), [](std::uint64_t) {});
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ASSERT_FALSE(fs::exists(target()));
  }
  /// Imports to the end: how many items were read, and that the pack is the whole one.
  [[nodiscard]] std::uint64_t go_on() const {
    Made made(origin());
    const pack::Report report = pack::write_pack(made, target(), [](std::uint64_t) {});
    EXPECT_EQ(report.dataset_digest, whole_);
    EXPECT_EQ(report.resumed + made.reads, kClasses * kEach);
    EXPECT_EQ(text(target()), text(files_.root() / "whole.tar"));
    EXPECT_FALSE(fs::exists(part()));
    EXPECT_FALSE(fs::exists(journal()));
    return made.reads;
  }
  [[nodiscard]] static std::string text(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void change(const fs::path& file, std::uint64_t at) const {
    std::string bytes = text(file);
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
    std::ofstream(file, std::ios::binary) << bytes;
  }
  DatasetFiles files_;
  std::string whole_;
};

TEST_F(PackResume, GoesOnBehindTheLastWholeClass) {
  for (std::uint64_t at = 0; at < kClasses * kEach; ++at) {
    ASSERT_NO_FATAL_FAILURE(die_at(at));
    EXPECT_EQ(go_on(), kClasses * kEach - at / kEach * kEach) << "killed at " << at;
    fs::remove(target());
  }
}

TEST_F(PackResume, GoesOnAfterSeveralDeaths) {
  for (const std::uint64_t at : {7, 8, 12, 29}) ASSERT_NO_FATAL_FAILURE(die_at(at));
  EXPECT_EQ(go_on(), 5U);
}

TEST_F(PackResume, WritesAgainWhatWasChangedInThePack) {
  ASSERT_NO_FATAL_FAILURE(die_at(22));
  change(part(), 1'200'000);  // in the third class
  EXPECT_EQ(go_on(), 20U);
  fs::remove(target());
  ASSERT_NO_FATAL_FAILURE(die_at(22));
  fs::resize_file(part(), 700'000);  // in the second class
  EXPECT_EQ(go_on(), 25U);
  fs::remove(target());
  ASSERT_NO_FATAL_FAILURE(die_at(22));
  change(part(), 600);  // in the head
  EXPECT_EQ(go_on(), 30U);
}

TEST_F(PackResume, BelievesNoJournalThatWasChanged) {
  for (std::uint64_t at = 0; at < 350; at += 13) {
    ASSERT_NO_FATAL_FAILURE(die_at(22));
    change(journal(), at);
    EXPECT_GT(go_on(), 10U) << at;
    fs::remove(target());
  }
  ASSERT_NO_FATAL_FAILURE(die_at(22));
  fs::resize_file(journal(), fs::file_size(journal()) - 1);  // its last line is half there
  EXPECT_EQ(go_on(), 15U);
  fs::remove(target());
  ASSERT_NO_FATAL_FAILURE(die_at(22));
  fs::remove(journal());
  EXPECT_EQ(go_on(), 30U);
}

TEST_F(PackResume, BeginsAnewWhereTheSourceWasChanged) {
  ASSERT_NO_FATAL_FAILURE(die_at(22));
  files_.text("origin", "and as it is");
  EXPECT_EQ(go_on(), 30U);
}

TEST_F(PackResume, KeepsWhatIsWrittenWhenAnItemCannotBeRead) {
  Made made(origin());
  made.before_read = [](std::uint64_t number) {
    if (number == 13) throw Error(ErrorKind::kData, "no more");
  };
  EXPECT_THROW((void)pack::write_pack(made, target(), [](std::uint64_t) {}), Error);
  EXPECT_TRUE(fs::exists(part()));
  EXPECT_EQ(go_on(), 20U);
}

TEST_F(PackResume, LeavesNothingBeforeTheFirstClassIsWhole) {
  Made made(origin());
  made.before_read = [](std::uint64_t number) {
    if (number == 3) throw Error(ErrorKind::kData, "no more");
  };
  EXPECT_THROW((void)pack::write_pack(made, target(), [](std::uint64_t) {}), Error);
  EXPECT_FALSE(fs::exists(part()));
  EXPECT_FALSE(fs::exists(journal()));
}

}  // namespace
}  // namespace feedring
