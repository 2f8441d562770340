// SPDX-License-Identifier: Apache-2.0
// The key transform, of a feed or of a tensor. Internal to load*.cpp: it includes toml++.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "producers/config/toml_table.hpp"

namespace feedring {

/// Appends the list of transforms, each with a name, to `transforms`; nothing where there is none. Throws Error(kUsage)
/// with file and line. What they mean is known elsewhere.
void read_transforms(TomlTable& table, nlohmann::json& transforms, const std::string& file);

}  // namespace feedring
