// SPDX-License-Identifier: Apache-2.0
// Names of samples in a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace feedring {

/// The lines of a file, relative to `folder`: a name each. Throws Error(kUsage).
[[nodiscard]] std::vector<std::string> read_file_list(const std::string& list, const std::filesystem::path& folder);

}  // namespace feedring
