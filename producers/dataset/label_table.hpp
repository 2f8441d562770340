// SPDX-License-Identifier: Apache-2.0
// The labels of a manifest become class numbers here: at first in the order in which they come, at last as they should
// be. Internal to this folder.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "producers/dataset/scan.hpp"

namespace feedring::dataset {

/// A decimal number without sign and without leading zeros.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view text);

class LabelTable {
 public:
  static constexpr std::uint64_t kMaxLabel = (1U << 24) - 1;  ///< each number has an entry in the class table

  /// The provisional number of `text`. nullopt: another kind of label than the first one's, which the others follow.
  std::optional<std::uint32_t> add(std::string_view text);

  /// Whether labels are the class numbers themselves. Of the first one; false before.
  [[nodiscard]] bool numeric() const noexcept { return numeric_; }

  struct Numbered {
    std::vector<std::string> classes;    ///< names by number
    std::vector<std::uint32_t> numbers;  ///< of each provisional number
  };
  /// What all texts come to; with `classes_from`, which has a place for each or throws Error(kData) about `data`, the
  /// classes are those. Precondition without: there is a text.
  [[nodiscard]] Numbered numbered(const std::vector<std::string>* classes_from,
                                  const std::filesystem::path& data) const;
  /// Sets scan.classes and turns the provisional labels of scan.samples into their numbers.
  void settle(Scan& scan, const std::vector<std::string>* classes_from) const;

 private:
  std::deque<std::string> names_;  // never moved, so that the keys stay valid
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  bool numeric_ = false;
  std::string last_text_;  // rows of one class mostly stand together
  std::uint32_t last_ = 0;
};

}  // namespace feedring::dataset
