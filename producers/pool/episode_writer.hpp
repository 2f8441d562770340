// SPDX-License-Identifier: Apache-2.0
// One image of an episode becomes one part of a row of a slot; the first part's writer also writes what the episode has
// as a whole.
#pragma once

#include "producers/pool/image_writer.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {

class EpisodeWriter {
 public:
  explicit EpisodeWriter(ImageWriter& images) : images_(images) {}

  /// Writes everything that belongs to part task.place.row, and no byte more. Returns its status. Precondition:
  /// feed.episodes() is there.
  contract::RowStatus write(FeedContext& feed, const contract::RingShape& shape, const RowTask& task);

 private:
  static void write_whole(FeedContext& feed, const contract::RingShape& shape, const RowTask& task, std::uint32_t row);

  ImageWriter& images_;
};

}  // namespace feedring
