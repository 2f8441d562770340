// SPDX-License-Identifier: Apache-2.0
// Reading a TOML table with errors that name file, line, table and key. Internal to load.cpp: it includes toml++.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <feedring/error.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "producers/config/suggest.hpp"
#include "producers/config/toml.hpp"
#include "producers/config/words.hpp"

namespace feedring {

/// Throws Error(kUsage) "FILE:LINE: SENTENCE".
[[noreturn]] inline void fail_at(const std::string& file, const toml::source_region& where,
                                 const std::string& sentence) {
  throw Error(ErrorKind::kUsage, file + ':' + std::to_string(where.begin.line) + ": " + sentence);
}

/// What stands there, for a message: `a string`, `the number 70000`.
inline std::string described(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "a list";
    case toml::node_type::string: return "the string \"" + node.ref<std::string>() + '"';
    case toml::node_type::integer: return "the number " + std::to_string(node.ref<std::int64_t>());
    case toml::node_type::floating_point: return "the number " + nlohmann::json(node.ref<double>()).dump();
    case toml::node_type::boolean: return node.ref<bool>() ? "true" : "false";
    default: return "a date or time";
  }
}

struct TomlEntry {
  const toml::key* key;
  const toml::node* value;
};
/// What stands in a table, in the file's order: toml++ keeps tables sorted by key.
[[nodiscard]] inline std::vector<TomlEntry> in_file_order(const toml::table& table) {
  std::vector<TomlEntry> entries;
  for (const auto& [key, value] : table) entries.push_back({&key, &value});
  std::sort(entries.begin(), entries.end(),
            [](const TomlEntry& a, const TomlEntry& b) { return a.key->source().begin < b.key->source().begin; });
  return entries;
}

class TomlTable {
 public:
  /// `title` is how messages call it: "[feed.train]". Keeps references to both.
  TomlTable(const toml::table& table, std::string title, const std::string& file)
      : table_(table), title_(std::move(title)), file_(file) {}

  /// The node of a key, or nullptr. Whatever is asked for counts as a known key.
  const toml::node* find(std::string_view key) {
    known_.push_back(key);
    return table_.get(key);
  }

  void read(std::string_view key, bool& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (!node->is_boolean()) wrong(key, *node, "true or false");
    value = node->ref<bool>();
  }

  /// Whole numbers from low to high.
  template <class Integer>
  requires std::is_integral_v<Integer>
  void read(std::string_view key, Integer& value, std::int64_t low, std::int64_t high) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (!node->is_integer() || node->ref<std::int64_t>() < low || node->ref<std::int64_t>() > high) {
      wrong(key, *node, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    }
    value = static_cast<Integer>(node->ref<std::int64_t>());
  }
  template <class Integer>
  void read(std::string_view key, std::optional<Integer>& value, std::int64_t low, std::int64_t high) {
    if (!table_.contains(key)) return known_.push_back(key);
    read(key, value.emplace(), low, high);
  }

  /// Numbers from low to high, with or without a point.
  void read(std::string_view key, double& value, double low, double high) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const std::optional<double> number = node->is_number() ? node->value<double>() : std::nullopt;
    if (!number || !(*number >= low && *number <= high)) {
      wrong(key, *node, "a number from " + nlohmann::json(low).dump() + " to " + nlohmann::json(high).dump());
    }
    value = *number;
  }

  /// nullptr where the key is absent. Never empty, and without NUL bytes, which no file name holds.
  const std::string* text(std::string_view key, std::string_view what) {
    const toml::node* node = find(key);
    if (node == nullptr) return nullptr;
    if (!node->is_string()) wrong(key, *node, what);
    const auto& value = node->ref<std::string>();
    if (value.empty() || value.find('\0') != std::string::npos) wrong(key, *node, what);
    return &value;
  }

  template <class Enum>
  void read_word(std::string_view key, Enum& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const std::string wanted = any_of_words(words_of<Enum>());
    if (!node->is_string()) wrong(key, *node, wanted);
    const auto parsed = from_word<Enum>(node->ref<std::string>());
    if (!parsed) wrong(key, *node, wanted);
    value = *parsed;
  }

  /// Throws for the first key, in the file's order, that nothing asked for.
  void refuse_unknown_keys() const {
    const toml::key* first = nullptr;
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      if (first == nullptr || key.source().begin < first->source().begin) first = &key;
    }
    if (first == nullptr) return;
    std::string hint = did_you_mean(first->str(), known_);
    if (hint.empty()) {
      for (const std::string_view key : known_) hint += (hint.empty() ? "; known keys are " : ", ") + std::string(key);
    }
    fail_at(file_, first->source(), "unknown key \"" + std::string(first->str()) + "\" in " + title_ + hint);
  }

  [[noreturn]] void wrong(std::string_view key, const toml::node& node, std::string_view expected) const {
    fail_at(file_, node.source(),
            title_ + ' ' + std::string(key) + " is " + described(node) + ", expected " + std::string(expected));
  }

 private:
  const toml::table& table_;
  std::string title_;
  const std::string& file_;
  std::vector<std::string_view> known_;
};

}  // namespace feedring
