// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/episode_pictures.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>
#include <utility>

#include "producers/pool/feed_message.hpp"
#include "producers/pool/feed_pictures.hpp"
#include "runtime/message.hpp"

namespace feedring {
namespace {

// The supervisor answers between two things of its own, none of which takes long.
constexpr int kAnswerWithinMs = 5000;

Message ask(const PoolAddress& pool, const std::string& feed) {
  const UniqueFd socket = connect_to(pool);
  if (!socket) {
    throw Error(ErrorKind::kPoolGone,
                fmt::format("feed '{}': the pool is gone, so that its data cannot be asked for", feed));
  }
  send_message(socket.get(), {{"op", "data"}, {"feed", feed}});
  std::optional<Message> reply = receive_message(socket.get(), kAnswerWithinMs);
  if (!reply) {
    throw Error(ErrorKind::kDeadline, fmt::format("feed '{}': the pool did not say what its data are within {} s", feed,
                                                  kAnswerWithinMs / 1000));
  }
  throw_if_error(reply->body);
  return std::move(*reply);
}

// Finished here, also where a device finishes batches: to the same bits.
FeedSpec finished_here(FeedSpec spec) {
  spec.finish = FinishBy::kProducer;
  return spec;
}

contract::RingShape one_row(FeedContext& feed) {
  const EpisodePlaces& places = feed.episodes()->places();
  const NodeView picture = pictures_of(feed.spec()).views.front();
  return lay_out_ring(1, 1, 1, places.tensors(picture.height, picture.width, picture.dtype, feed.spec().layout),
                      places.parts());
}

}  // namespace

EpisodePictures::EpisodePictures(const PoolAddress& pool, const std::string& feed) : EpisodePictures(ask(pool, feed)) {}

EpisodePictures::EpisodePictures(Message message)
    : EpisodePictures(message.body.at("number").get<std::uint32_t>(), spec_in(message, 2), message.take(1).get(),
                      Mapping(message.take_memory(0).get(), Mapping::Access::kReadOnly,
                              sizeof(contract::PoolHeader<std::atomic>))) {}

EpisodePictures::EpisodePictures(std::uint32_t number, FeedSpec spec, int index_fd, Mapping pool)
    : pool_(std::move(pool)), feed_(number, finished_here(std::move(spec)), index_fd), shape_(one_row(feed_)) {}

std::vector<std::byte> EpisodePictures::make(const EpisodeKey& key) {
  const std::scoped_lock lock(mutex_);
  // For this episode alone: the caller's process keeps no thread of ours that reads.
  Reader reader;
  contract::InHand<std::atomic> in_hand{};
  std::optional<Failure> first;
  std::uint32_t failed = 0;
  SampleWriter samples(*reinterpret_cast<const contract::PoolHeader<std::atomic>*>(pool_.data()), in_hand,
                       [&](const Failure& failure) {
                         if (failure.outcome != contract::RowStatus::kFailed) return;
                         ++failed;
                         if (!first) first = failure;
                       });
  ImageWriter images(reader, samples);
  EpisodeWriter writer(images);
  std::vector<std::byte> payload(shape_.payload_stride);
  for (std::uint32_t part = 0; part < shape_.parts; ++part) {
    (void)writer.write(feed_, shape_,
                       {payload.data(), {0, 0, 0, part}, key.seed, key.epoch, key.ordinal, /*valid=*/true});
  }
  if (first) {
    throw Error(ErrorKind::kData,
                fmt::format("feed '{}': {} of {} images of episode {} of epoch {} failed, the first: {}; repair or "
                            "remove the file, or choose on_error = \"replace\" or \"zero\"",
                            feed_.spec().name, failed, shape_.parts, key.ordinal, key.epoch, words_of(feed_, *first)));
  }
  return payload;
}

}  // namespace feedring
