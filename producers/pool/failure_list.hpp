// SPDX-License-Identifier: Apache-2.0
// Every failed sample, counted and named: one JSON line each, where a file was asked for, and one warning per file.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace feedring {

class FailureList {
 public:
  /// Throws Error(kUsage) where the file cannot be opened for appending.
  explicit FailureList(const std::optional<std::filesystem::path>& file);

  /// `failure` is the producer's message: feed, epoch, ordinal, index, path, bytes, reason, outcome; and ring, slot,
  /// turn, row. The second report of one row of one turn is left out: a producer died between report and finish.
  void add(const nlohmann::json& failure);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  [[nodiscard]] bool heard_before(const nlohmann::json& failure);

  std::ofstream file_;
  std::uint64_t count_ = 0;
  struct Heard {
    std::uint32_t turn = 0;
    std::set<std::uint32_t> rows;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Heard>> heard_;  // by ring and slot, of its last turns
  std::size_t remembered_ = 0;                                                  // rows in heard_, or more; bounded
  std::set<std::string> warned_;                                                // files already told about; bounded
};

}  // namespace feedring
