// SPDX-License-Identifier: Apache-2.0
// How much memory a pool will take, told before anything starts, and compared with what there is.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "producers/pool/node_feed.hpp"
#include "producers/pool/node_stores.hpp"

namespace feedring {

struct MemoryPlan {
  struct FeedPart {
    std::string name;
    std::uint64_t ring_bytes;  ///< of one rank
    std::uint64_t index_bytes;
    std::uint32_t slots;
    std::uint32_t batch_size;
    bool episodes = false;
  };
  std::vector<FeedPart> feeds;
  std::vector<StorePlan> stores;
  std::uint64_t store_bytes = 0;  ///< of all of them
  std::vector<SeekPlan> seek;
  std::uint64_t seek_bytes = 0;  ///< of all of them, at most
  std::uint32_t ranks = 0;
  std::uint32_t producers = 0;
  std::uint64_t producer_bytes = 0;  ///< private memory of all producers, estimated
  std::uint64_t page_table_bytes = 0;
  std::uint64_t total = 0;
};

/// Stores are those that are still to be made.
[[nodiscard]] MemoryPlan plan_memory(const std::vector<NodeFeed>& feeds, const std::vector<StorePlan>& stores,
                                     const std::vector<SeekPlan>& seek, std::uint32_t ranks, std::uint32_t producers);

/// A pool as it starts, with all its stores. Seek indices that nobody asked for take a part of what is left beside the
/// rest, so that they never make a pool not fit.
[[nodiscard]] MemoryPlan plan_start(const std::vector<NodeFeed>& feeds, const PoolSpec& pool, std::uint32_t ranks,
                                    std::uint32_t producers);

/// nullopt: it fits into what is free now, and `extra_limit`, which is [pool] memory_limit. Else why not: needed, free,
/// which limit, what to lower.
[[nodiscard]] std::optional<std::string> misfit(const MemoryPlan& plan, std::optional<std::uint64_t> extra_limit);

/// Throws misfit() as Error(kMemory).
void demand_memory(const MemoryPlan& plan, std::optional<std::uint64_t> extra_limit);

/// One line per part, for people; all in one line; and as JSON.
[[nodiscard]] std::string to_text(const MemoryPlan& plan);
[[nodiscard]] std::string to_line(const MemoryPlan& plan);
[[nodiscard]] nlohmann::json to_json(const MemoryPlan& plan);

}  // namespace feedring
