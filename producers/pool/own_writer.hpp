// SPDX-License-Identifier: Apache-2.0
// One sample of a feed with own samples becomes one row of a slot, by the program's Filler.
#pragma once

#include <feedring/producer.hpp>
#include <vector>

#include "producers/pool/picture_transform.hpp"
#include "producers/pool/sample_writer.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {

class OwnWriter {
 public:
  explicit OwnWriter(SampleWriter& samples) : samples_(samples) {}

  /// Writes every tensor of the row: exactly its own bytes. Returns its status. Precondition: feed.filler() is there.
  contract::RowStatus write(FeedContext& feed, const contract::RingShape& shape, const RowTask& task);

 private:
  SampleWriter& samples_;
  std::vector<SlotTensor> views_;  // scratch
  std::vector<PictureTransform> pictures_;
};

}  // namespace feedring
