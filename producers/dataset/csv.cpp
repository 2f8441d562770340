// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/csv.hpp"

#include <algorithm>

namespace feedring::dataset {
namespace {

constexpr std::size_t kLongestQuoted = 1 << 20;  // a quote by mistake must not swallow a file of gigabytes

/// Reads a quoted field, whose first quote is behind us, and may go on to further lines. Returns the rest of the line.
std::string_view read_quoted(TextLines& lines, std::string_view rest, std::string& field) {
  for (;;) {
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos) {
      field.append(rest).push_back('\n');
      if (field.size() > kLongestQuoted)
        lines.fail("a field in quotes is longer than 1 MiB: is its last quote missing?");
      if (!lines.next(rest)) lines.fail("a field in quotes does not end");
      continue;
    }
    field.append(rest.substr(0, quote));
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) return rest;
    field.push_back('"');
    rest.remove_prefix(1);
  }
}

}  // namespace

bool next_record(TextLines& lines, char separator, std::vector<std::string>& fields) {
  std::string_view rest;
  do {
    if (!lines.next(rest)) return false;
  } while (rest.empty() || rest == "\r");
  for (std::size_t count = 1;; ++count) {
    if (fields.size() < count) fields.emplace_back();
    std::string& field = fields[count - 1];
    field.clear();
    if (rest.starts_with('"')) {
      rest.remove_prefix(1);
      rest = read_quoted(lines, rest, field);
      if (rest == "\r") rest = {};
      if (!rest.empty() && rest.front() != separator) lines.fail("text behind the last quote of a field");
    } else {
      const std::size_t end = std::min(rest.find(separator), rest.size());
      field.assign(rest.substr(0, end));
      rest.remove_prefix(end);
      if (rest.empty() && field.ends_with('\r')) field.pop_back();
    }
    if (rest.empty()) {
      fields.resize(count);
      return true;
    }
    rest.remove_prefix(1);
  }
}

}  // namespace feedring::dataset
