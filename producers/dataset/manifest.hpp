// SPDX-License-Identifier: Apache-2.0
// A text file that lists samples, for data that is not laid out in folders or too large to be walked at each start.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "producers/dataset/scan.hpp"

namespace feedring {

/// Reads a manifest: one sample a line, the lines in any order, each in one of the forms
///     path
///     path <TAB> label
///     path <TAB> label <TAB> bytes
/// - All lines have the same number of columns; lines end in "\n" alone; there are no comments, quotes or escapes.
/// - `path` is relative to the manifest's folder. Any extension will do.
/// - `label`: where the first line's is a decimal number, all are, up to 16777215, and are the class numbers themselves
/// (a
///   number that nobody has is an empty class). Otherwise all are class names, numbered in bytewise order.
/// - `bytes` is the file's size: with this column no file is looked at, so that a list of millions is read in a second.
///   Without it every file is, and must exist. A size of 0 leaves the line out, as kEmpty.
/// A path may come twice. Throws Error(kData) that names file and line.
[[nodiscard]] Scan read_manifest(const std::filesystem::path& manifest,
                                 const std::vector<std::string>* classes_from = nullptr);

}  // namespace feedring
