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
#include "producers/transform/mask.hpp"

namespace feedring {

/// Where the file of a column goes.
struct FilePlace {
  std::size_t column;  ///< its number in FeedContext::columns()
  std::span<std::uint8_t> out;
};

class ImageWriter {
 public:
  ImageWriter(Reader& reader, SampleWriter& samples) : reader_(reader), samples_(samples) {}

  /// Writes the views of `sample`: exactly the bytes of the shots, which are as Views::run() wants them; and its files
  /// of columns, which follow the first view's choices.
  SampleWriter::Result write(FeedContext& feed, const RowTask& task, std::uint64_t sample, std::span<const Shot> shots,
                             std::optional<ClassAugment> turned, const SampleWriter::Substitute& substitute,
                             std::span<const FilePlace> files = {});

  /// Whether pictures of a store go past the caches on their way into the slots.
  void write_past_caches(bool past) noexcept { past_caches_ = past; }

 private:
  Fault make_sample(FeedContext& feed, std::uint64_t sample, std::span<const Shot> shots,
                    std::optional<ClassAugment> turned, std::span<const FilePlace> files);
  Fault make_file(FeedContext& feed, std::uint64_t sample, Draw random, const FilePlace& file, std::uint8_t* out);
  Fault make_inside(FeedContext& feed, std::uint64_t sample, std::optional<ClassAugment> turned);
  Fault fill_entry(FeedContext& feed, std::size_t entry, std::uint8_t* pixels, std::span<const std::uint8_t> bytes,
                   std::optional<ClassAugment> turned);

  Reader& reader_;
  SampleWriter& samples_;
  Decoder decoder_;
  MaskMaker masks_;
  bool past_caches_ = false;
  std::vector<GuardedBytes> guards_;  ///< of the sample in hand: its places,
  std::vector<Shot> inside_;          ///< and what is written there
};

}  // namespace feedring
