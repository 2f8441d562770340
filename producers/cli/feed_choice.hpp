// SPDX-License-Identifier: Apache-2.0
// Which feed a command is about: of a configuration file, or made up for a plain folder.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "producers/config/feed_spec.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring::cli {

/// As given on the command line; empty: not given.
struct FeedChoice {
  std::string data;     ///< a folder, or a manifest
  std::string config;   ///< -c
  std::string feed;     ///< --feed
  std::string cache;    ///< --cache
  std::string split;    ///< --split
  std::string classes;  ///< --classes
  std::optional<std::uint32_t> class_depth;
  std::string files;                   ///< --files
  std::optional<std::uint64_t> limit;  ///< --limit
};

/// Adds the positional DIR, -c/--config, --feed and what add_data_options adds to a command. `choice` outlives it.
void add_feed_options(CLI::App& command, FeedChoice& choice);

/// Adds --split, --classes, --class-depth, --files and --limit.
void add_data_options(CLI::App& command, FeedChoice& choice);

/// Makes of these what is given what the feed says. Throws Error(kUsage).
void apply_data_options(const FeedChoice& choice, FeedSpec& spec);

/// Adds --cache.
void add_cache_option(CLI::App& command, FeedChoice& choice);

struct ChosenFeed {
  Config config;
  std::size_t number = 0;  ///< of the feed in config.feeds

  [[nodiscard]] FeedSpec& spec() { return config.feeds[number]; }
  [[nodiscard]] const FeedSpec& spec() const { return config.feeds[number]; }
};

/// The folder (with the usual training transform, whose crop has `size` pixels a side, or what a cache can keep), or
/// the named feed of the file, or its first one; --cache counts for that feed. Without either, FEEDRING_CONFIG names
/// the file. Throws Error(kUsage).
[[nodiscard]] ChosenFeed resolve_feed(const FeedChoice& choice, std::uint32_t size = 224);

/// Throws Error(kUsage) for a feed whose samples are in no files.
void demand_files(const FeedSpec& spec);

/// Scans the feed's data, and first that of the feed whose class numbers it takes. Warnings go to the log. Throws
/// Error.
[[nodiscard]] Scan scan_feed(const ChosenFeed& chosen);

}  // namespace feedring::cli
