// SPDX-License-Identifier: Apache-2.0
// A text file that lists samples, for data that is not laid out in folders or too large to be walked at each start.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "producers/dataset/choice.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring {

/// Reads a manifest: one sample a line, the lines in any order. Three forms:
/// 1. `path`, `path TAB label` or `path TAB label TAB bytes`, all lines alike: no head line, comments, quotes or
/// escapes.
/// 2. A table of tab- or, in a .csv, comma-separated values, whose head line has a column path (or filename, file_name,
///    image_name), and may have label (class_name, class), superclass, split and bytes. Columns of other names are not
///    read, with a warning.
/// 3. In a .jsonl or .ndjson, an object a line, with these names as keys.
/// What they mean:
/// - `path` is relative to the manifest's folder; any extension will do. In 2 and 3, where the first sample's file is
/// not
///   there, all are looked for in `images/`, `<label>/` or `images/<label>/`.
/// - `label`: where the first one is a decimal number, all are, up to 16777215, and are the class numbers themselves (a
///   number that nobody has is an empty class). Otherwise all are class names, numbered in bytewise order.
/// - `bytes` is the file's size: with it no file is looked at, so that a list of millions is read in a second. Without
/// it
///   every file is, and must exist. A size of 0 leaves the line out, as kEmpty.
/// A path may come twice. What `choice` leaves out is not looked at, and numbers no class. Throws Error(kData) that
/// names file and line.
[[nodiscard]] Scan read_manifest(const std::filesystem::path& manifest,
                                 const std::vector<std::string>* classes_from = nullptr, const DataChoice& choice = {});

}  // namespace feedring
