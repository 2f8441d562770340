// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/image_writer.hpp"

#include <cstring>

#include "runtime/fault_point.hpp"

namespace feedring {

SampleWriter::Result ImageWriter::write(FeedContext& feed, const RowTask& task, std::uint64_t sample, Draw draw,
                                        std::optional<ClassAugment> turned, const SampleWriter::Substitute& substitute,
                                        std::byte* out) {
  return samples_.write(
      feed, task, sample, [&](std::uint64_t which) { return make_image(feed, which, draw, turned, out); }, substitute,
      [&] { std::memset(out, 0, feed.bytes_per_image()); });
}

Fault ImageWriter::make_image(FeedContext& feed, std::uint64_t sample, Draw draw, std::optional<ClassAugment> turned,
                              std::byte* out) {
  const FileRequest file = feed.file(sample);
  fault_point("read, before the file", file.path);
  const Reader::Bytes bytes = reader_.take(file);
  if (bytes.fault) return bytes.fault;
  samples_.now(contract::WorkPhase::kDecode);
  fault_point("decode, before the picture", file.path);
  Fault fault = feed.pipeline().run(bytes.data, decoder_, draw, feed.spec().max_pixels,
                                    reinterpret_cast<std::uint8_t*>(out), turned);
  fault_point("decode, after the picture", file.path);
  return fault;
}

}  // namespace feedring
