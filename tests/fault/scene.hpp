// SPDX-License-Identifier: Apache-2.0
// What the whole-process tests share: a folder with pictures and a configuration, the built programs, and the demand
// that nothing is left when a test ends.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/processes.hpp"
#include "tests/support/program.hpp"

namespace feedring::test {

/// A pool ends within two seconds of its owner; twice that for a busy machine.
inline constexpr seconds kGoneWithin{4};

class Scene : public testing::Test {
 protected:
  void SetUp() override;
  /// Fails for a living process, a file in a temporary folder or in /dev/shm, or a pool address that is still taken.
  void TearDown() override;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path data() const { return folder_ / "data"; }
  /// The address of this test's pool; every program gets it as FEEDRING_POOL.
  [[nodiscard]] const std::string& pool() const { return pool_; }
  /// A free one beside it.
  [[nodiscard]] std::string other_pool() const { return pool_ + "-other"; }

  /// `count` JPEGs, dealt in turn to class folders a, b, …; 0.jpg, 1.jpg, … within each. Pictures repeat after a few,
  /// which the random crops and the labels tell apart.
  void make_pictures(int count, int classes = 2, int width = 96, int height = 64) const;
  void write_file(const std::filesystem::path& file, const std::string& bytes) const;
  /// A JPEG as bytes.
  static std::string jpeg(int width, int height, unsigned seed = 1);

  /// Writes feed.toml and returns its path; `train` and `pool` are lines for the sections [feed.train] and [pool].
  /// Batches of 4 small pictures in 3 slots unless said otherwise.
  std::string configure(const std::string& train = "", const std::string& pool = "",
                        const std::string& name = "feed.toml");

  /// The built command, started.
  [[nodiscard]] Program feedring(std::vector<std::string> arguments, Start start = {}) const;
  /// Run to its end.
  [[nodiscard]] Program ran(std::vector<std::string> arguments, Start start = {}) const;
  /// The test's own trainer (trainer/main.cpp) as a rank of a running pool.
  [[nodiscard]] Program trainer(std::vector<std::string> arguments, Start start = {}) const;
  [[nodiscard]] static std::string trainer_program() { return FEEDRING_TRAINER; }

  /// `feedring start` with the test's pool address; returns the supervisor's pid.
  pid_t start_pool(std::vector<std::string> arguments, Start start = {});
  void stop_pool();
  [[nodiscard]] nlohmann::json status() const;
  /// The pool does not listen any more, and its producers are gone.
  [[nodiscard]] bool pool_is_gone() const;

  /// Every sample of an epoch as `feedring dump` lists it: ordinal -> index.
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> dumped(const std::string& config, int epoch, int world) const;

 private:
  [[nodiscard]] Start prepared(std::string program, std::vector<std::string> arguments, Start start) const;

  std::filesystem::path folder_;
  std::string pool_;
};

/// The events of one kind that trainers wrote.
[[nodiscard]] std::vector<nlohmann::json> events(const Program& program, const std::string& kind);

/// Where random moments come from: FEEDRING_TEST_SEED or the clock, printed, so that a failure can be tried again.
[[nodiscard]] unsigned random_seed();

}  // namespace feedring::test
