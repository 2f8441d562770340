// SPDX-License-Identifier: Apache-2.0
// The forms of a manifest: each reads all lines into `rows`. Internal to this folder.
#pragma once

#include <string_view>

#include "producers/dataset/manifest_rows.hpp"
#include "producers/dataset/text_lines.hpp"

namespace feedring::dataset {

/// `path`, `path TAB label` or `path TAB label TAB bytes`.
void read_plain(TextLines& lines, ManifestRows& rows);

/// Whether the line names columns, one of them that of the paths.
[[nodiscard]] bool is_head(std::string_view line, char separator);
/// A head line, then a record a sample.
void read_table(TextLines& lines, char separator, ManifestRows& rows);

/// A JSON object a line.
void read_json_lines(TextLines& lines, ManifestRows& rows);

}  // namespace feedring::dataset
