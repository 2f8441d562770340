// SPDX-License-Identifier: Apache-2.0
// Every failed sample, counted and named: one JSON line each, where a file was asked for, and one warning per file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace feedring {

class FailureList {
 public:
  /// Throws Error(kUsage) where the file cannot be opened for appending.
  explicit FailureList(const std::optional<std::filesystem::path>& file);

  /// `failure` is the producer's message: feed, epoch, ordinal, index, path, bytes, reason, outcome.
  void add(const nlohmann::json& failure);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::ofstream file_;
  std::uint64_t count_ = 0;
  std::set<std::string> warned_;  // files already told about; bounded
};

}  // namespace feedring
