// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "producers/dataset/columns.hpp"
#include "producers/dataset/csv.hpp"
#include "producers/dataset/labels.hpp"
#include "producers/dataset/manifest_forms.hpp"

namespace feedring::dataset {
namespace {

using Column = std::optional<std::size_t>;

/// A column's name as it is compared: without spaces around it, in lower case.
std::string plain_name(std::string_view name) {
  const auto is_space = [](char c) { return c == ' ' || c == '\r'; };
  while (!name.empty() && is_space(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_space(name.back())) name.remove_suffix(1);
  std::string plain(name);
  for (char& c : plain) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return plain;
}

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Columns {
  std::size_t path = 0;
  Column label, superclass, split, bytes, weight;
  std::vector<std::size_t> read;  ///< of each that was chosen
  std::string unread;             ///< the names of all others, for a message
};

Columns columns_of(const std::vector<std::string>& head, const std::vector<ColumnSpec>& chosen,
                   const std::string& weights, const TextLines& lines) {
  Columns columns;
  std::vector<Column> read(chosen.size());
  Column path;
  const auto take = [&](Column& column, std::size_t number) {
    if (column)
      lines.fail(fmt::format("two columns, {} and {}, say the same", shown(head[*column]), shown(head[number])));
    column = number;
  };
  for (std::size_t i = 0; i < head.size(); ++i) {
    const std::string name = plain_name(head[i]);
    bool wanted = !weights.empty() && plain_name(weights) == name;
    if (wanted) take(columns.weight, i);
    for (std::size_t c = 0; c < chosen.size(); ++c) {
      if (plain_name(chosen[c].name) != name) continue;
      take(read[c], i);
      wanted = true;
    }
    if (is_one_of(kPathNames, name)) {
      take(path, i);
    } else if (is_one_of(kLabelNames, name)) {
      take(columns.label, i);
    } else if (name == kSuperclass) {
      take(columns.superclass, i);
    } else if (name == kSplit) {
      take(columns.split, i);
    } else if (name == kBytes) {
      take(columns.bytes, i);
    } else if (!wanted) {
      columns.unread += (columns.unread.empty() ? "" : ", ") + shown(head[i]);
    }
  }
  if (!path) lines.fail("no column is called path, filename, file_name or image_name");
  if (!weights.empty() && !columns.weight) {
    lines.fail(fmt::format("no column is called {}, which \"weights\" names", shown(weights)));
  }
  if (columns.superclass && !columns.label) lines.fail("a column of superclasses, but none of labels");
  columns.path = *path;
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    if (!read[c])
      lines.fail(fmt::format("no column is called {}, which the feed's columns name", shown(chosen[c].name)));
    columns.read.push_back(*read[c]);
  }
  return columns;
}

/// A number with or without a point and an exponent, and nothing else but spaces around it.
std::optional<double> double_in(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\r')) text.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool is_head(std::string_view line, char separator) {
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    std::string_view name = line.substr(begin, end - begin);
    if (name.ends_with('\r')) name.remove_suffix(1);
    if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    if (is_one_of(kPathNames, plain_name(name))) return true;
    begin = end + 1;
  }
  return false;
}

void read_table(TextLines& lines, char separator, ManifestRows& rows) {
  std::vector<std::string> fields;
  if (!next_record(lines, separator, fields)) return;
  const Columns columns = columns_of(fields, rows.columns(), rows.weights(), lines);
  if (!columns.unread.empty()) rows.warn(fmt::format("nothing reads the manifest's columns {}", columns.unread));
  const std::size_t count = fields.size();
  std::string both;
  std::vector<Cell> cells(columns.read.size());
  while (next_record(lines, separator, fields)) {
    if (fields.size() != count) lines.fail(fmt::format("{} fields where the head line has {}", fields.size(), count));
    ManifestRow row{.path = fields[columns.path], .label = {}, .split = {}, .bytes = {}, .weight = {}};
    if (columns.label) row.label = fields[*columns.label];
    if (columns.superclass && !row.label->empty()) {
      both = fields[*columns.superclass] + '/' + fields[*columns.label];
      row.label = both;
    }
    if (columns.split) row.split = fields[*columns.split];
    if (columns.bytes) {
      row.bytes = number_in(fields[*columns.bytes]);
      if (!row.bytes) lines.fail(fmt::format("{} is no size in bytes", shown(fields[*columns.bytes])));
    }
    if (columns.weight) row.weight = double_in(fields[*columns.weight]);
    for (std::size_t c = 0; c < cells.size(); ++c) cells[c] = cell_of(fields[columns.read[c]], rows.columns()[c].kind);
    rows.add(row, cells, lines);
  }
}

}  // namespace feedring::dataset
