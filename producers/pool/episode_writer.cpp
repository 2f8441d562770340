// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/episode_writer.hpp"

#include <cstring>

#include "runtime/fault_point.hpp"

namespace feedring {

using contract::RowStatus;

EpisodeWriter::Places::Places(const contract::RingShape& shape)
    : class_ids(shape, episode_tensor::kClassIds),
      counts(shape, episode_tensor::kCounts),
      sample_ids(shape, episode_tensor::kSampleIds),
      ordinal(shape, episode_tensor::kOrdinal),
      valid(shape, episode_tensor::kValid),
      status(shape, episode_tensor::kStatus) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const EpisodeColumn& names = kEpisodeColumns[i];
    columns[i].images = {shape, names.images};
    if (names.labels != nullptr) columns[i].labels = {shape, names.labels};
    columns[i].mask = {shape, names.mask};
  }
}

const EpisodeWriter::Places& EpisodeWriter::places_of(std::uint32_t ring, const contract::RingShape& shape) {
  if (ring >= places_.size()) places_.resize(ring + 1);
  if (!places_[ring]) places_[ring].emplace(shape);
  return *places_[ring];
}

RowStatus EpisodeWriter::write(FeedContext& feed, const contract::RingShape& shape, const RowTask& task) {
  EpisodeFeed& episodes = *feed.episodes();
  const EpisodeKey key{task.seed, task.epoch, task.ordinal};
  const std::uint32_t row = task.place.row / shape.parts;
  const std::uint32_t part = task.place.row % shape.parts;
  const PartPlace at = episodes.places().place(part);
  const Places& places = places_of(task.place.ring, shape);
  const Places::Column& column = places.columns[at.column];
  const std::size_t bytes = feed.bytes_per_image();
  const std::span<std::byte> out(column.images.row(task.payload, row) + at.at * bytes, bytes);
  if (part == 0) write_whole(episodes, places, task, row);

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
  column.labels.put(task.payload, row, at.at, label);
  places.sample_ids.put(task.payload, row, at.id_at, sample);
  fault_point("row, within its columns");
  column.mask.put(task.payload, row, at.at, static_cast<std::uint8_t>(good));
  places.status.put(task.payload, row, part, static_cast<std::uint8_t>(status));
  return status;
}

void EpisodeWriter::write_whole(EpisodeFeed& episodes, const Places& places, const RowTask& task, std::uint32_t row) {
  const Episode& episode = episodes.episode({task.seed, task.epoch, task.ordinal});
  for (std::uint32_t place = 0; place < episodes.places().shape().ways; ++place) {
    const bool there = place < episode.classes.size();
    const std::uint32_t at = there && episodes.places().classes_by_label() ? episode.labels[place] : place;
    const auto number = [&](const std::vector<std::uint32_t>& of) { return there ? std::int64_t{of[place]} : 0; };
    places.class_ids.put(task.payload, row, at, there ? number(episode.classes) : -1);
    places.counts.put(task.payload, row, 2 * std::uint64_t{at}, number(episode.sizes.shots));
    places.counts.put(task.payload, row, 2 * std::uint64_t{at} + 1, number(episode.sizes.queries));
  }
  places.ordinal.put(task.payload, row, 0, static_cast<std::int64_t>(task.ordinal));
  places.valid.put(task.payload, row, 0, static_cast<std::uint8_t>(task.valid));
}

}  // namespace feedring
