// SPDX-License-Identifier: Apache-2.0
// Names of classes: in a file, or one of the splits that feedring brings along.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace feedring {

class TomlTable;

/// The names in `list`: `builtin:NAME/SPLIT` of the installation (docs/data.md lists them), else a file, relative to
/// `folder`: a name a line; in a .csv what stands before the first comma; or JSON, as a list of names or of pairs
/// [superclass, name], or an object that has such a list as "class_names". Throws Error(kUsage), also for a name that
/// comes twice.
[[nodiscard]] std::vector<std::string> read_class_list(const std::string& list, const std::filesystem::path& folder);

/// A key that is a list of names, or a text for read_class_list. Empty where the key is absent.
[[nodiscard]] std::vector<std::string> read_class_key(TomlTable& table, std::string_view key,
                                                      const std::filesystem::path& folder, const std::string& file);

}  // namespace feedring
