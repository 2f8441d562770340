// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/image_writer.hpp"

#include <cstring>
#include <functional>

#include "runtime/fault_point.hpp"

namespace feedring {

SampleWriter::Result ImageWriter::write(FeedContext& feed, const RowTask& task, std::uint64_t sample,
                                        std::span<const Shot> shots, std::optional<ClassAugment> turned,
                                        const SampleWriter::Substitute& substitute, std::span<const FilePlace> files) {
  // By reference: what they hold is more than a std::function holds without asking for memory.
  const auto make = [&](std::uint64_t which) { return make_sample(feed, which, shots, turned, files); };
  const auto clear = [&] {
    for (const Shot& shot : shots) std::memset(shot.out.data(), 0, shot.out.size());
    for (const FilePlace& file : files) std::memset(file.out.data(), 0, file.out.size());
  };
  return samples_.write(feed, task, sample, std::ref(make), substitute, std::ref(clear));
}

Fault ImageWriter::make_sample(FeedContext& feed, std::uint64_t sample, std::span<const Shot> shots,
                               std::optional<ClassAugment> turned, std::span<const FilePlace> files) {
  guards_.clear();
  inside_.clear();
  for (const Shot& shot : shots) {
    guards_.emplace_back(shot.out.data(), shot.out.size());
    inside_.push_back({shot.random, {guards_.back().data(), shot.out.size()}});
  }
  for (const FilePlace& file : files) guards_.emplace_back(file.out.data(), file.out.size());
  Fault fault = make_inside(feed, sample, turned);
  // Masks first: they do what the picture's pipeline did last.
  for (const ColumnKind kind : {ColumnKind::kMask, ColumnKind::kImage}) {
    for (std::size_t i = 0; i < files.size() && !fault; ++i) {
      if (feed.columns().columns()[files[i].column].kind != kind) continue;
      fault = make_file(feed, sample, shots.front().random, files[i], guards_[shots.size() + i].data());
    }
  }
  for (const GuardedBytes& guard : guards_) guard.put();
  return fault;
}

Fault ImageWriter::make_file(FeedContext& feed, std::uint64_t sample, Draw random, const FilePlace& file,
                             std::uint8_t* out) {
  const ColumnSpec& column = feed.columns().columns()[file.column];
  const FileRequest request = feed.column_file(sample, file.column);
  const Reader::Bytes bytes = reader_.take(request);
  Fault fault = bytes.fault;
  if (!fault) {
    decoder_.use_shelf(nullptr);  // which is of the samples' own pictures
    fault =
        column.kind == ColumnKind::kMask
            ? masks_.run(bytes.data, decoder_, feed.pipeline().drawn(), feed.spec().max_pixels, {out, file.out.size()})
            : feed.pipeline().run(bytes.data, decoder_, random, feed.spec().max_pixels, out);
  }
  if (fault) fault = "its " + column.name + ' ' + std::string(request.path) + ": " + *fault;
  return fault;
}

Fault ImageWriter::make_inside(FeedContext& feed, std::uint64_t sample, std::optional<ClassAugment> turned) {
  // Only a feed of one view has a store.
  Shot& first = inside_.front();
  const DecodedStore* const store = feed.store();
  const std::optional<std::size_t> entry = store != nullptr ? store->entry(sample, turned) : std::nullopt;
  if (entry) {
    if (const std::uint8_t* kept = store->find(*entry)) {
      feed.pipeline().finish_kept(kept, first.random, first.out.data(), past_caches_);
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
    if (!fault) feed.pipeline().finish_kept(room, first.random, first.out.data(), past_caches_);
  } else {
    if (SeekStore* const seek = feed.seek_store()) seek->turn_to(sample, bytes.modified_ns);
    decoder_.use_shelf(feed.seek_store());
    fault = feed.views().run(bytes.data, decoder_, inside_, feed.spec().max_pixels, turned);
  }
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
