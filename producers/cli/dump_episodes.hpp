// SPDX-License-Identifier: Apache-2.0
// `feedring dump` of a feed of episodes.
#pragma once

#include "producers/cli/dump_options.hpp"
#include "producers/config/feed_spec.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring::cli {

/// Writes a line an episode, by step, then rank, then row. Precondition: spec.episodes. Throws Error.
void dump_episodes(const DumpOptions& options, const FeedSpec& spec, const Scan& scan);

}  // namespace feedring::cli
