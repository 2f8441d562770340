// SPDX-License-Identifier: Apache-2.0
// Parts of the configuration whose meaning is known elsewhere go on as JSON. Internal to load*.cpp: it includes toml++.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "producers/config/toml.hpp"

namespace feedring {

/// The node, value by value. Throws Error(kUsage) with file and line for a date, a time, and for a number that is not
/// finite.
[[nodiscard]] nlohmann::json to_json_value(const toml::node& node, const std::string& file);

}  // namespace feedring
