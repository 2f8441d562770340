// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/episode_writer.hpp"

#include <cstring>

#include "producers/pool/slot_values.hpp"
#include "runtime/fault_point.hpp"

namespace feedring {

using contract::RowStatus;

RowStatus EpisodeWriter::write(FeedContext& feed, const contract::RingShape& shape, const RowTask& task) {
  EpisodeFeed& episodes = *feed.episodes();
  const EpisodeKey key{task.seed, task.epoch, task.ordinal};
  const std::uint32_t row = task.place.row / shape.parts;
  const std::uint32_t part = task.place.row % shape.parts;
  const PartPlace at = episodes.places().place(part);
  const contract::TensorEntry* images = find_tensor(shape, at.column.images);
  const std::span<std::byte> out(
      task.payload + images->offset + row * images->row_bytes + at.at * feed.bytes_per_image(), feed.bytes_per_image());
  if (part == 0) write_whole(feed, shape, task, row);

  RowStatus status = RowStatus::kOk;
  std::int64_t sample = -1;
  std::int64_t label = kNoLabel;
  bool good = false;
  if (const auto image = episodes.image(key, part)) {
    const auto substitute = [&](std::uint64_t attempt) { return episodes.substitute(key, *image, attempt); };
    const Shot shot{image->augment, {reinterpret_cast<std::uint8_t*>(out.data()), out.size()}};
    const SampleWriter::Result result =
        images_.write(feed, task, image->sample, {&shot, 1}, image->turned, std::ref(substitute));
    status = result.status;
    sample = static_cast<std::int64_t>(result.sample);
    good = result.good();
    if (good) label = image->label;
  } else {
    std::memset(out.data(), 0, out.size());
  }
  if (at.column.labels != nullptr) put_value(shape, task.payload, at.column.labels, row, at.at, label);
  put_value(shape, task.payload, episode_tensor::kSampleIds, row, at.id_at, sample);
  fault_point("row, within its columns");
  put_value(shape, task.payload, at.column.mask, row, at.at, static_cast<std::uint8_t>(good));
  put_value(shape, task.payload, episode_tensor::kStatus, row, part, static_cast<std::uint8_t>(status));
  return status;
}

void EpisodeWriter::write_whole(FeedContext& feed, const contract::RingShape& shape, const RowTask& task,
                                std::uint32_t row) {
  EpisodeFeed& episodes = *feed.episodes();
  const Episode& episode = episodes.episode({task.seed, task.epoch, task.ordinal});
  for (std::uint32_t place = 0; place < episodes.places().shape().ways; ++place) {
    const bool there = place < episode.classes.size();
    const std::uint32_t at = there && episodes.places().classes_by_label() ? episode.labels[place] : place;
    const auto number = [&](const std::vector<std::uint32_t>& of) { return there ? std::int64_t{of[place]} : 0; };
    put_value(shape, task.payload, episode_tensor::kClassIds, row, at, there ? number(episode.classes) : -1);
    put_value(shape, task.payload, episode_tensor::kCounts, row, 2 * std::uint64_t{at}, number(episode.sizes.shots));
    put_value(shape, task.payload, episode_tensor::kCounts, row, 2 * std::uint64_t{at} + 1,
              number(episode.sizes.queries));
  }
  put_value(shape, task.payload, episode_tensor::kOrdinal, row, 0, static_cast<std::int64_t>(task.ordinal));
  put_value(shape, task.payload, episode_tensor::kValid, row, 0, static_cast<std::uint8_t>(task.valid));
}

}  // namespace feedring
