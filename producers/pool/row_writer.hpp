// SPDX-License-Identifier: Apache-2.0
// One sample of a plan becomes one row of a slot: its views, label, ids, flags.
#pragma once

#include <vector>

#include "producers/pool/image_writer.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {

class RowWriter {
 public:
  explicit RowWriter(ImageWriter& images) : images_(images) {}

  /// Writes every tensor of the row: exactly its own bytes. Returns its status.
  contract::RowStatus write(FeedContext& feed, const contract::RingShape& shape, const RowTask& task);

 private:
  ImageWriter& images_;
  std::vector<Shot> shots_;       // scratch
  std::vector<FilePlace> files_;  // likewise
};

}  // namespace feedring
