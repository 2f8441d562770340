// SPDX-License-Identifier: Apache-2.0
// --ways, --shots, --queries, --episodes and --episode-file, as several commands take them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "producers/config/feed_spec.hpp"

namespace feedring::cli {

struct EpisodeOptions {
  std::optional<std::uint32_t> ways;
  std::optional<std::uint32_t> shots;
  std::optional<std::uint32_t> queries;
  std::optional<std::uint64_t> episodes;  ///< an epoch
  std::string file;                       ///< that holds them; empty: not given

  /// Makes the feed one of episodes where any is given, and these prevail over what it says of them. `batch_given`: the
  /// batch size stays, which else is 1 for a feed that had none, as in a configuration.
  void apply(FeedSpec& spec, bool batch_given) const;
};

/// Adds them to a command. `options` outlives it.
void add_episode_options(CLI::App& command, EpisodeOptions& options);

}  // namespace feedring::cli
