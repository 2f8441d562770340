// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/manifest.hpp"

#include <fmt/format.h>

#include "producers/dataset/labels.hpp"
#include "producers/dataset/manifest_forms.hpp"

namespace feedring {
namespace {

using dataset::ManifestRows;
using dataset::TextLines;

/// The separator of a table with a head line; '\0': there is none, so that it is a plain list.
char table_separator(TextLines& lines, const std::string& extension) {
  std::string_view first;
  if (!lines.next(first)) return '\0';
  lines.again();
  if (extension == ".csv" && first.find(',') != std::string_view::npos) {
    if (!dataset::is_head(first, ',')) {
      lines.fail("a .csv begins with the names of its columns, one of them path, filename, file_name or image_name");
    }
    return ',';
  }
  return dataset::is_head(first, '\t') ? '\t' : '\0';
}

}  // namespace

Scan read_manifest(const std::filesystem::path& manifest, const std::vector<std::string>* classes_from,
                   const DataChoice& choice) {
  TextLines lines(manifest);
  const std::string extension = manifest.extension().native();
  const bool json = extension == ".jsonl" || extension == ".ndjson";
  const char separator = json ? '\0' : table_separator(lines, extension);
  const bool plain = !json && separator == '\0';
  if (plain && !(choice.columns.empty() && choice.weights.empty())) {
    const std::string& column = choice.columns.empty() ? choice.weights : choice.columns.front().name;
    lines.fail("a list without a head line, which has no column " + dataset::shown(column) +
               ": begin it with the names of its columns");
  }
  ManifestRows rows(manifest, choice, plain ? ManifestRows::Places::kPath : ManifestRows::Places::kUsual);
  if (json) {
    dataset::read_json_lines(lines, rows);
  } else if (plain) {
    dataset::read_plain(lines, rows);
  } else {
    dataset::read_table(lines, separator, rows);
  }
  return rows.finish(classes_from);
}

}  // namespace feedring
