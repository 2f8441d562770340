// SPDX-License-Identifier: Apache-2.0
// The steps that a folder and a manifest share once their samples and class names are known. Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/scan.hpp"

namespace feedring::dataset {

/// The number of each of `names` in `classes`. Throws Error(kData) that names the first one missing there, and `data`.
[[nodiscard]] std::vector<std::uint32_t> numbers_of(const std::vector<std::string>& names,
                                                    const std::vector<std::string>& classes,
                                                    const std::filesystem::path& data);

/// Appends a sample to scan.samples and scan.paths. Throws Error(kData) where the path is longer than the system
/// allows.
void add_sample(Scan& scan, std::string_view path, std::uint64_t bytes, std::uint32_t label);

/// Sorts samples and skipped files, and warns of empty classes (`warn_empty`). The last step of every scan.
void finish(Scan& scan, bool warn_empty);

/// `bytes` between quotation marks for a message: control characters, which could deceive its reader, as \n or \x1b,
/// and what is endless cut short.
[[nodiscard]] std::string shown(std::string_view bytes);

}  // namespace feedring::dataset
