// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "producers/dataset/columns.hpp"
#include "producers/dataset/labels.hpp"
#include "producers/dataset/manifest_forms.hpp"

namespace feedring::dataset {
namespace {

using nlohmann::json;

/// The value of the first of `names` that the object has and that is not null.
template <class Names>
const json* value_of(const json& object, const Names& names) {
  for (const std::string_view name : names) {
    const auto found = object.find(name);
    if (found != object.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

const json* value_of(const json& object, std::string_view name) { return value_of(object, std::array{name}); }

std::string text_of(const json& value, std::string_view what, const TextLines& lines) {
  if (!value.is_string()) lines.fail(fmt::format("the {} is no text", what));
  std::string text = value.get<std::string>();
  if (text.find('\0') != std::string::npos) lines.fail(fmt::format("the {} holds a NUL character", what));
  return text;
}

std::string label_of(const json& value, const TextLines& lines) {
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (value.is_string()) return text_of(value, "label", lines);
  lines.fail("the label is neither a text nor a whole number from 0 on");
}

/// A text or number, or a list of them.
Cell cell_of(const json& value, const ColumnSpec& column, const TextLines& lines) {
  Cell cell;
  for (const json& each : value.is_array() ? value : json::array({value})) {
    if (each.is_string()) {
      cell.push_back(text_of(each, "value of " + shown(column.name), lines));
    } else if (each.is_number()) {
      cell.push_back(each.dump());
    } else {
      lines.fail(fmt::format("column {}: {} is neither a text nor a number, nor a list of them", shown(column.name),
                             each.dump(-1, ' ', true)));
    }
  }
  return cell;
}

std::vector<Cell> cells_of(const json& object, const std::vector<ColumnSpec>& columns, const TextLines& lines) {
  std::vector<Cell> cells;
  for (const ColumnSpec& column : columns) {
    const json* value = value_of(object, std::string_view(column.name));
    if (value == nullptr) lines.fail(fmt::format("no value of {}, which the feed's columns name", shown(column.name)));
    cells.push_back(cell_of(*value, column, lines));
  }
  return cells;
}

}  // namespace

void read_json_lines(TextLines& lines, ManifestRows& rows) {
  std::optional<bool> labelled;
  for (std::string_view line; lines.next(line);) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) lines.fail("no JSON object");
    const json* path = value_of(object, kPathNames);
    if (path == nullptr) lines.fail("no path: name the sample's file as \"path\"");
    const std::string path_text = text_of(*path, "path", lines);
    const json* label = value_of(object, kLabelNames);
    if (!labelled) labelled = label != nullptr;
    if (*labelled != (label != nullptr)) {
      lines.fail(*labelled ? "no label, but the first sample has one" : "a label, but the first sample has none");
    }
    ManifestRow row{.path = path_text, .label = {}, .split = {}, .bytes = {}, .weight = {}};
    std::string label_text, split_text;
    if (label != nullptr) row.label = label_text = label_of(*label, lines);
    if (const json* superclass = value_of(object, kSuperclass); superclass != nullptr && !label_text.empty()) {
      row.label = label_text = text_of(*superclass, "superclass", lines) + '/' + label_text;
    }
    if (const json* split = value_of(object, kSplit)) row.split = split_text = text_of(*split, "split", lines);
    if (const json* bytes = value_of(object, kBytes)) {
      if (!bytes->is_number_unsigned()) lines.fail("bytes is no size");
      row.bytes = bytes->get<std::uint64_t>();
    }
    if (!rows.weights().empty()) {
      const json* weight = value_of(object, std::string_view(rows.weights()));
      if (weight == nullptr) lines.fail(fmt::format("no {}, which \"weights\" names", shown(rows.weights())));
      if (weight->is_number()) row.weight = weight->get<double>();
    }
    rows.add(row, cells_of(object, rows.columns(), lines), lines);
  }
}

}  // namespace feedring::dataset
