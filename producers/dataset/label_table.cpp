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

LabelTable::Numbered LabelTable::numbered(const std::vector<std::string>* classes_from,
                                          const std::filesystem::path& data) const {
  Numbered all;
  if (classes_from != nullptr) {
    all.classes = *classes_from;
  } else if (numeric_) {
    // No table from name to number here: it would take more memory than all else where the highest number is large.
    for (const std::string& name : names_) all.numbers.push_back(static_cast<std::uint32_t>(*number_in(name)));
    const std::uint32_t highest = *std::max_element(all.numbers.begin(), all.numbers.end());
    all.classes.reserve(std::size_t{highest} + 1);
    for (std::uint32_t i = 0; i <= highest; ++i) all.classes.push_back(std::to_string(i));
    return all;
  } else {
    all.classes.assign(names_.begin(), names_.end());
    std::sort(all.classes.begin(), all.classes.end());
  }
  all.numbers = numbers_of({names_.begin(), names_.end()}, all.classes, data);
  return all;
}

void LabelTable::settle(Scan& scan, const std::vector<std::string>* classes_from) const {
  Numbered all = numbered(classes_from, scan.root);
  scan.classes = std::move(all.classes);
  for (Sample& sample : scan.samples) sample.label = all.numbers[sample.label];
}

}  // namespace feedring::dataset
