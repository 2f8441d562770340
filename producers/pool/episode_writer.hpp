// SPDX-License-Identifier: Apache-2.0
// One image of an episode becomes one part of a row of a slot; the first part's writer also writes what the episode has
// as a whole.
#pragma once

#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "producers/pool/episode_layout.hpp"
#include "producers/pool/image_writer.hpp"
#include "producers/pool/slot_values.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {

class EpisodeWriter {
 public:
  explicit EpisodeWriter(ImageWriter& images) : images_(images) {}

  /// Writes everything that belongs to part task.place.row, and no byte more. Returns its status. Precondition:
  /// feed.episodes() is there.
  contract::RowStatus write(FeedContext& feed, const contract::RingShape& shape, const RowTask& task);

 private:
  // The tensors of a ring, so that no part looks six of them up by name.
  struct Places {
    explicit Places(const contract::RingShape& shape);
    struct Column {
      TensorPlace images;
      TensorPlace labels;
      TensorPlace mask;
    };
    std::array<Column, std::size(kEpisodeColumns)> columns;
    TensorPlace class_ids;
    TensorPlace counts;
    TensorPlace sample_ids;
    TensorPlace ordinal;
    TensorPlace valid;
    TensorPlace status;
  };
  const Places& places_of(std::uint32_t ring, const contract::RingShape& shape);
  static void write_whole(EpisodeFeed& episodes, const Places& places, const RowTask& task, std::uint32_t row);

  ImageWriter& images_;
  std::vector<std::optional<Places>> places_;  // by ring
};

}  // namespace feedring
