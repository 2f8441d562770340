// SPDX-License-Identifier: Apache-2.0
// One sample becomes one image of a slot: file, pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "producers/decode/decoder.hpp"
#include "producers/pool/feed_context.hpp"
#include "producers/pool/sample_writer.hpp"

namespace feedring {

class ImageWriter {
 public:
  ImageWriter(Reader& reader, SampleWriter& samples) : reader_(reader), samples_(samples) {}

  /// Writes the image of `sample` at `out`: exactly its bytes. `draw` and `turned` as in Pipeline::run.
  SampleWriter::Result write(FeedContext& feed, const RowTask& task, std::uint64_t sample, Draw draw,
                             std::optional<ClassAugment> turned, const SampleWriter::Substitute& substitute,
                             std::byte* out);

 private:
  Fault make_image(FeedContext& feed, std::uint64_t sample, Draw draw, std::optional<ClassAugment> turned,
                   std::byte* out);
  Fault fill_entry(FeedContext& feed, std::size_t entry, std::uint8_t* pixels, std::span<const std::uint8_t> bytes,
                   std::optional<ClassAugment> turned);

  Reader& reader_;
  SampleWriter& samples_;
  Decoder decoder_;
};

}  // namespace feedring
