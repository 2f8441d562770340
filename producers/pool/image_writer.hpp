// SPDX-License-Identifier: Apache-2.0
// One sample becomes one image of a slot, or several views of it: file, pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "producers/decode/decoder.hpp"
#include "producers/pool/feed_context.hpp"
#include "producers/pool/guarded_bytes.hpp"
#include "producers/pool/sample_writer.hpp"

namespace feedring {

class ImageWriter {
 public:
  ImageWriter(Reader& reader, SampleWriter& samples) : reader_(reader), samples_(samples) {}

  /// Writes the views of `sample`: exactly the bytes of the shots, which are as Views::run() wants them.
  SampleWriter::Result write(FeedContext& feed, const RowTask& task, std::uint64_t sample, std::span<const Shot> shots,
                             std::optional<ClassAugment> turned, const SampleWriter::Substitute& substitute);

 private:
  Fault make_views(FeedContext& feed, std::uint64_t sample, std::span<const Shot> shots,
                   std::optional<ClassAugment> turned);
  Fault make_inside(FeedContext& feed, std::uint64_t sample, std::optional<ClassAugment> turned);
  Fault fill_entry(FeedContext& feed, std::size_t entry, std::uint8_t* pixels, std::span<const std::uint8_t> bytes,
                   std::optional<ClassAugment> turned);

  Reader& reader_;
  SampleWriter& samples_;
  Decoder decoder_;
  std::vector<GuardedBytes> guards_;  ///< of the sample in hand: its places,
  std::vector<Shot> inside_;          ///< and what is written there
};

}  // namespace feedring
