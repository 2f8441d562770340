// SPDX-License-Identifier: Apache-2.0
// The keys of a feed that say which samples it has and how often they come: files, limit, mix, weights,
// samples_per_epoch.
#pragma once

#include <filesystem>
#include <string>

#include "producers/config/feed_spec.hpp"
#include "producers/config/toml_table.hpp"

namespace feedring {

/// Reads them into `feed`. Paths are relative to `folder`, where the configuration `file` lies. Throws Error(kUsage).
void read_order(TomlTable& table, const toml::table& source, FeedSpec& feed, const std::filesystem::path& folder,
                const std::string& file);

/// Throws Error(kUsage) where what read_order has read contradicts the feed's other keys.
void demand_order(const FeedSpec& feed, const toml::table& source, const std::string& file);

}  // namespace feedring
