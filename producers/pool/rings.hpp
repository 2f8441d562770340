// SPDX-License-Identifier: Apache-2.0
// The rings of a node: one per feed and local rank, made once the number of local ranks is known, never adopted by
// another supervisor.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "producers/pool/memory_plan.hpp"
#include "producers/pool/node_feed.hpp"
#include "producers/pool/placement.hpp"
#include "runtime/memfd.hpp"
#include "runtime/ring.hpp"

namespace feedring {

struct NodeRing {
  std::uint32_t feed = 0;  ///< index into the node's feeds
  std::uint32_t local_rank = 0;
  std::optional<unsigned> numa_node;  ///< of the rank's GPU, where that matters
  std::uint64_t huge_bytes = 0;       ///< of its pages that are huge ones
  UniqueFd fd;
  Mapping mapping;
  Ring<> ring;
};

class Rings {
 public:
  /// Makes the rings of `ranks` local ranks for all feeds, where they are not there yet. Checks memory by arithmetic,
  /// then reserves the pages in a sacrificial child, near the rank's GPU. Returns the new ones. Throws Error(kMemory |
  /// kInternal).
  std::vector<const NodeRing*> make(const std::vector<NodeFeed>& feeds, std::uint32_t ranks, std::uint32_t producers,
                                    std::optional<std::uint64_t> memory_limit, const Placement& placement);

  [[nodiscard]] std::uint32_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] const std::vector<std::unique_ptr<NodeRing>>& all() const noexcept { return rings_; }
  [[nodiscard]] NodeRing* find(std::uint32_t feed, std::uint32_t local_rank) const noexcept;

 private:
  std::vector<std::unique_ptr<NodeRing>> rings_;
  std::uint32_t ranks_ = 0;
};

}  // namespace feedring
