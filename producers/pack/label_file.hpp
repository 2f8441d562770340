// SPDX-License-Identifier: Apache-2.0
// Names of classes that are numbers, and the pickles that have them beside the pictures. Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace feedring::pack {

/// The names of CIFAR-100's classes, in the file `meta` beside it; empty where there is none.
[[nodiscard]] std::vector<std::string> names_in_meta(const std::filesystem::path& file, const char* key);

/// Gives `classes`, which are called by their numbers, names where all numbers have one. `supers` are superclasses by
/// number, `super_of` that of each sample in the order of `numbers`; a class gets its first sample's.
void name_classes(std::vector<std::string>& classes, const std::vector<std::string>& names,
                  const std::vector<std::int64_t>& numbers, const std::vector<std::string>& supers,
                  const std::optional<std::vector<std::int64_t>>& super_of);

/// The names of tieredImageNet's labels, in their file. `labels` become class numbers. Throws Error(kData).
[[nodiscard]] std::vector<std::string> read_label_file(const std::filesystem::path& file,
                                                       std::vector<std::uint32_t>& labels);

}  // namespace feedring::pack
