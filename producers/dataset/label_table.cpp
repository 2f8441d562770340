// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/label_table.hpp"

#include <algorithm>
#include <charconv>

#include "producers/dataset/labels.hpp"

namespace feedring::dataset {

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  return value;
}

std::optional<std::uint32_t> LabelTable::add(std::string_view text) {
  const std::optional<std::uint64_t> number = number_in(text);
  if (names_.empty()) numeric_ = number.has_value();
  if (numeric_ != number.has_value()) return std::nullopt;
  if (numeric_ && *number > kMaxLabel) return std::nullopt;
  if (text == last_text_ && !names_.empty()) return last_;
  last_text_ = text;
  const auto found = numbers_.find(text);
  if (found != numbers_.end()) return last_ = found->second;
  last_ = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(text);
  numbers_.emplace(names_.back(), last_);
  return last_;
}

void LabelTable::settle(Scan& scan, const std::vector<std::string>* classes_from) const {
  if (classes_from != nullptr) {
    scan.classes = *classes_from;
  } else if (numeric_) {
    number_by_themselves(scan);
    return;
  } else {
    scan.classes.assign(names_.begin(), names_.end());
    std::sort(scan.classes.begin(), scan.classes.end());
  }
  const std::vector<std::uint32_t> numbers = numbers_of({names_.begin(), names_.end()}, scan.classes, scan.root);
  for (Sample& sample : scan.samples) sample.label = numbers[sample.label];
}

// No table from name to number here: it would take more memory than all else where the highest number is large.
void LabelTable::number_by_themselves(Scan& scan) const {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : names_) numbers.push_back(static_cast<std::uint32_t>(*number_in(name)));
  const std::uint32_t highest = *std::max_element(numbers.begin(), numbers.end());
  scan.classes.reserve(std::size_t{highest} + 1);
  for (std::uint32_t i = 0; i <= highest; ++i) scan.classes.push_back(std::to_string(i));
  for (Sample& sample : scan.samples) sample.label = numbers[sample.label];
}

}  // namespace feedring::dataset
