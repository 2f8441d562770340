// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "producers/dataset/labels.hpp"
#include "producers/dataset/manifest_forms.hpp"

namespace feedring::dataset {
namespace {

using Fields = std::array<std::string_view, 3>;

/// Splits a line into `fields`; returns how many there are.
std::size_t split(std::string_view line, Fields& fields, const TextLines& lines) {
  std::size_t columns = 0;
  for (std::size_t begin = 0; begin <= line.size(); ++columns) {
    if (columns == fields.size()) lines.fail("more than three columns (path, label, bytes)");
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    fields.at(columns) = line.substr(begin, end - begin);
    begin = end + 1;
  }
  return columns;
}

}  // namespace

void read_plain(TextLines& lines, ManifestRows& rows) {
  Fields fields;
  std::size_t columns = 0;  // of the first line
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) lines.fail("an empty line");
    if (line.back() == '\r')
      lines.fail("the line ends in a carriage return: save the file with \\n at the end of lines");
    const std::size_t here = split(line, fields, lines);
    if (columns == 0) columns = here;
    if (here != columns) lines.fail(fmt::format("{} columns where the first line has {}", here, columns));
    ManifestRow row{.path = fields[0], .label = {}, .split = {}, .bytes = {}, .weight = {}};
    if (columns > 1) row.label = fields[1];
    if (columns > 2) {
      row.bytes = number_in(fields[2]);
      if (!row.bytes) lines.fail(fmt::format("{} is no size in bytes", shown(fields[2])));
    }
    rows.add(row, {}, lines);
  }
}

}  // namespace feedring::dataset
