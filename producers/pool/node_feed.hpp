// SPDX-License-Identifier: Apache-2.0
// A feed as the supervisor holds it: its index, the shape of its rings, its identity. Made once per node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "producers/config/feed_spec.hpp"
#include "producers/dataset/index.hpp"
#include "producers/pool/feed_pictures.hpp"
#include "runtime/contract.hpp"
#include "runtime/finish_table.hpp"
#include "runtime/memfd.hpp"

namespace feedring {

struct NodeFeed {
  FeedSpec spec;  ///< what producers and rings are made for
  UniqueFd index_fd;
  Index index;
  std::string spec_hash;  ///< covers sampler and transform; never batch size, slots, remainder, layout or device
  std::vector<NodeView> views = {};      ///< one where it draws episodes or keeps pictures; none of own samples
  std::vector<ColumnSpec> columns = {};  ///< with their classes
  std::uint64_t ordinals = 0;            ///< of an epoch: samples, or episodes
  /// Set where the rank's device finishes batches: `spec` is then what is left for producers, 8 bit interleaved RGB.
  std::optional<FinishTable> finish = std::nullopt;
  FeedSpec asked = {};        ///< what the configuration says, for ranks
  UniqueFd episodes_fd = {};  ///< text of spec.episodes->list, where there is one: the file may change, a feed may not
};

/// Scans the data of every feed and builds its index. Throws Error.
[[nodiscard]] std::vector<NodeFeed> open_feeds(const Config& config);

/// Hex of XXH3-128 over the canonical spec: what a state must agree with to be loaded.
[[nodiscard]] std::string spec_hash_of(const FeedSpec& spec);

/// Tasks of a slot: about four a producer, spread over the rings that are served at once, so that all producers work on
/// the oldest batch and none waits long at its end; never more than rows.
[[nodiscard]] std::uint32_t tasks_of_slot(std::uint32_t producers, std::uint32_t rings, std::uint32_t rows);

/// The ring of one rank in this feed.
[[nodiscard]] contract::RingShape ring_shape_of(const NodeFeed& feed, std::uint32_t producers, std::uint32_t ranks);

}  // namespace feedring
