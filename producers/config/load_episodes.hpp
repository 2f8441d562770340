// SPDX-License-Identifier: Apache-2.0
// [feed.NAME.episodes] of the configuration file. Internal to load.cpp: it includes toml++.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "producers/config/feed_spec.hpp"
#include "producers/config/toml_table.hpp"

namespace feedring {

/// Throws Error(kUsage) with file and line, as all of load.cpp does.
[[nodiscard]] EpisodeSpec read_episodes(const std::string& feed, const toml::node& node,
                                        const std::filesystem::path& folder, const std::string& file);

/// episode_layout of a feed that was read but for it, and what the layouts of other libraries change of the defaults:
/// their images are float32 from 0 to 1, and planar. `feed_table` is the feed's table as `table` reads it.
void read_episode_layout(TomlTable& table, const toml::table& feed_table, FeedSpec& feed, const std::string& file);

/// Throws where two feeds draw episodes from the same data and share some of their classes, but not all: what one is
/// tested on, the other would have been trained on.
void refuse_leaks(const std::vector<FeedSpec>& feeds, const std::string& file);

}  // namespace feedring
