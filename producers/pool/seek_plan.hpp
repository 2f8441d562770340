// SPDX-License-Identifier: Apache-2.0
// Which feeds keep seek indices, and in how much memory: worked out before anything starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "producers/pool/node_feed.hpp"
#include "producers/pool/seek_store.hpp"

namespace feedring {

struct SeekPlan {
  std::vector<std::string> feeds;  ///< that share it: those of the same files
  SeekLayout layout;
};

/// Of the feeds that decode files time and again, in the order of the first that uses each. `asked` is [pool]
/// seek_index: bytes for all, shared out by the size of the data; 0: none. Without it each has what its data may need,
/// and all together no more than an eighth of `room`, which is what else is free.
[[nodiscard]] std::vector<SeekPlan> plan_seek_stores(const std::vector<NodeFeed>& feeds,
                                                     std::optional<std::uint64_t> asked, std::uint64_t room);

}  // namespace feedring
