// SPDX-License-Identifier: Apache-2.0
// What `feedring dump` is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "producers/cli/episode_options.hpp"
#include "producers/cli/feed_choice.hpp"

namespace feedring::cli {

struct DumpOptions {
  FeedChoice feed;
  EpisodeOptions episodes;
  std::optional<std::uint32_t> batch_size;
  std::optional<std::uint64_t> seed;
  std::uint32_t world = 1;
  std::optional<std::uint32_t> rank;
  std::uint64_t epoch = 0;
  std::string steps;
  std::string remainder;
  bool json = false;
  bool plan = false;
};

struct Steps {
  std::uint64_t begin;
  std::uint64_t end;
};

/// "A:B" as in a Python slice: either may be absent, and what lies beyond the epoch, which has `all` steps, is empty.
/// Throws Error(kUsage).
[[nodiscard]] Steps parse_steps(const std::string& text, std::uint64_t all);

/// write(step, rank) for each step and rank that were asked for, of an epoch of `all` steps. Throws Error(kUsage)
/// first, where the steps make no sense.
template <class Write>
void for_each_share(const DumpOptions& options, std::uint64_t all, Write&& write) {
  const Steps steps = parse_steps(options.steps, all);
  for (std::uint64_t step = steps.begin; step < steps.end; ++step) {
    for (std::uint32_t rank = 0; rank < options.world; ++rank) {
      if (!options.rank || *options.rank == rank) write(step, rank);
    }
  }
}

}  // namespace feedring::cli
