// SPDX-License-Identifier: Apache-2.0
// Own producers in the configuration file. Internal to load.cpp: it includes toml++.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "producers/config/feed_spec.hpp"
#include "producers/config/toml_table.hpp"

namespace feedring {

/// The most samples of a feed that has no files.
inline constexpr std::int64_t kMostSamples = std::int64_t{1} << 40;

/// Throws "TITLE KEY WHY", with file and line, for a key in `source` that speaks of images or of files.
void refuse_keys_of_images(const toml::table& source, const std::string& title, const std::string& file,
                           const std::string& why);

/// The keys samples, tensors, options and attachment of a feed; nullopt: it has none of them, so that it has data.
/// `source` is the feed's table as `table` reads it. Throws Error(kUsage) with file and line.
[[nodiscard]] std::optional<OwnSpec> read_own(TomlTable& table, const toml::table& source, const std::string& feed,
                                              const std::filesystem::path& folder, const std::string& file);

/// The table `tasks` of a feed, with its keys samples (how many tasks) and dtype; nullopt where there is none.
[[nodiscard]] std::optional<OwnSpec> read_tasks(TomlTable& table, const toml::table& source, const std::string& feed,
                                                const std::string& file);

/// The pool's key producer: a program, or a list of a program and its arguments. A program with a '/' is relative to
/// `folder`, one without is looked for in PATH.
void read_producer(TomlTable& table, const std::filesystem::path& folder, std::vector<std::string>& producer);

/// Throws where a feed has own samples and the pool no program that makes them.
void demand_producer(const Config& config, const std::string& file);

}  // namespace feedring
