// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/image_writer.hpp"

#include <cstring>

#include "producers/pool/guarded_bytes.hpp"
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
  GuardedBytes written(reinterpret_cast<std::uint8_t*>(out), feed.bytes_per_image());
  const DecodedStore* const store = feed.store();
  const std::optional<std::size_t> entry = store != nullptr ? store->entry(sample, turned) : std::nullopt;
  if (entry) {
    if (const std::uint8_t* kept = store->find(*entry)) {
      feed.pipeline().finish_kept(kept, draw, written.data());
      written.put();
      return std::nullopt;
    }
  }

  const FileRequest file = feed.file(sample);
  fault_point("read, before the file", file.path);
  const Reader::Bytes bytes = reader_.take(file);
  if (bytes.fault) return bytes.fault;
  samples_.now(contract::WorkPhase::kDecode);
  fault_point("decode, before the picture", file.path);
  Fault fault;
  if (std::uint8_t* room = entry ? store->claim(*entry) : nullptr) {
    fault = fill_entry(feed, *entry, room, bytes.data, turned);
    if (!fault) feed.pipeline().finish_kept(room, draw, written.data());
  } else {
    if (SeekStore* const seek = feed.seek_store()) seek->turn_to(sample, bytes.modified_ns);
    decoder_.use_shelf(feed.seek_store());
    fault = feed.pipeline().run(bytes.data, decoder_, draw, feed.spec().max_pixels, written.data(), turned);
  }
  written.put();
  fault_point("decode, after the picture", file.path);
  return fault;
}

// A picture that fails leaves no trace, so that it fails anew, and is told, each time that it is due.
Fault ImageWriter::fill_entry(FeedContext& feed, std::size_t entry, std::uint8_t* pixels,
                              std::span<const std::uint8_t> bytes, std::optional<ClassAugment> turned) {
  fault_point("store, with an entry claimed");
  decoder_.use_shelf(nullptr);
  Fault fault = feed.pipeline().keep(bytes, decoder_, feed.spec().max_pixels, pixels, turned);
  if (fault) {
    feed.store()->give_back(entry);
    return fault;
  }
  fault_point("store, before an entry is published");
  feed.store()->publish(entry);
  fault_point("store, after an entry is published");
  return std::nullopt;
}

}  // namespace feedring
