// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/rings.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <feedring/error.hpp>

#include "runtime/huge_pages.hpp"
#include "runtime/memory_limits.hpp"
#include "runtime/reserve.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {

std::vector<const NodeRing*> Rings::make(const std::vector<NodeFeed>& feeds, std::uint32_t ranks,
                                         std::uint32_t producers, std::optional<std::uint64_t> memory_limit,
                                         const Placement& placement) {
  std::vector<const NodeRing*> made;
  if (ranks <= ranks_) return made;
  demand_memory(plan_memory(feeds, {}, {}, ranks - ranks_, producers), memory_limit);  // stores are there already
  const bool huge = may_have_huge_pages(huge_page_policy());
  std::vector<std::unique_ptr<NodeRing>> fresh;
  for (std::uint32_t rank = ranks_; rank < ranks; ++rank) {
    for (std::uint32_t feed = 0; feed < feeds.size(); ++feed) {
      auto ring = std::make_unique<NodeRing>();
      const contract::RingShape shape = ring_shape_of(feeds[feed], producers, ranks);
      ring->feed = feed;
      ring->local_rank = rank;
      ring->numa_node = placement.node_of_rank(rank);
      ring->fd = create_memfd(fmt::format("feedring-{}-{}", feeds[feed].spec.name, rank).c_str(), shape.bytes);
      if (!reserve_pages(ring->fd.get(), shape.bytes, ring->numa_node)) {
        throw Error(ErrorKind::kMemory,
                    fmt::format("the ring of local rank {} in feed '{}' needs {} and the system ended the attempt to "
                                "reserve it: too little memory is free; lower slots or batch_size",
                                rank, feeds[feed].spec.name, human_bytes(shape.bytes)));
      }
      seal_size(ring->fd.get());
      ring->mapping = Mapping(ring->fd.get(), Mapping::Access::kReadWrite, shape.bytes);
      if (huge) {
        ring->mapping.populate(0, shape.bytes);  // only what is mapped is counted
        ring->huge_bytes = huge_bytes_at(ring->mapping.data());
        spdlog::info("feed '{}', local rank {}: {} of {} lie in huge pages", feeds[feed].spec.name, rank,
                     human_bytes(ring->huge_bytes), human_bytes(shape.bytes));
      }
      create_ring(ring->mapping.data(), shape);
      ring->ring = Ring<>(ring->mapping.data(), shape);
      fresh.push_back(std::move(ring));
    }
  }
  for (auto& ring : fresh) {
    made.push_back(ring.get());
    rings_.push_back(std::move(ring));
  }
  ranks_ = ranks;
  return made;
}

NodeRing* Rings::find(std::uint32_t feed, std::uint32_t local_rank) const noexcept {
  for (const auto& ring : rings_) {
    if (ring->feed == feed && ring->local_rank == local_rank) return ring.get();
  }
  return nullptr;
}

}  // namespace feedring
