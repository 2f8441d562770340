// SPDX-License-Identifier: Apache-2.0
// One episode with its pixels for whoever asks: what a producer writes into a slot for it, byte for byte, in memory of
// the caller's, by the same writers.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "producers/pool/episode_writer.hpp"
#include "producers/pool/feed_context.hpp"
#include "runtime/control.hpp"
#include "runtime/memfd.hpp"
#include "runtime/message.hpp"

namespace feedring {

class EpisodePictures {
 public:
  /// Of a feed of a pool that runs: asks it how the feed is made and for the list of its data. Throws Error(kUsage) for
  /// a feed without episodes, Error(kPoolGone), Error(kDeadline), and what FeedContext throws.
  EpisodePictures(const PoolAddress& pool, const std::string& feed);
  /// Of a feed as a pool numbers it; `pool` is the segment of its PoolHeader. Precondition: spec.episodes.
  EpisodePictures(std::uint32_t number, FeedSpec spec, int index_fd, Mapping pool);

  /// A slot of one row: its tensors' shapes and places.
  [[nodiscard]] const contract::RingShape& shape() const noexcept { return shape_; }
  /// The payload of such a slot with the episode as a rank gets it, finished; shape().payload_stride bytes. Any thread.
  /// Failed images become what the feed's on_error says; with "raise" throws Error(kData), with the first one's file.
  /// Precondition: key.ordinal < those of an epoch.
  [[nodiscard]] std::vector<std::byte> make(const EpisodeKey& key);

 private:
  explicit EpisodePictures(Message message);

  std::mutex mutex_;  // one episode at a time: what follows has scratch memory
  Mapping pool_;
  FeedContext feed_;
  contract::RingShape shape_;
};

}  // namespace feedring
