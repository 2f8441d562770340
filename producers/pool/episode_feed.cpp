// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/episode_feed.hpp"

#include <algorithm>

#include "producers/pool/episode_classes.hpp"

namespace feedring {
namespace {

// The class (by place) to which image `index` belongs, where the classes have these counts, and its number within.
struct Within {
  std::uint32_t place;
  std::uint32_t number;
};
Within locate(const std::vector<std::uint32_t>& counts, std::uint64_t index) noexcept {
  std::uint32_t place = 0;
  while (index >= counts[place]) index -= counts[place++];
  return {place, static_cast<std::uint32_t>(index)};
}

}  // namespace

EpisodeFeed::EpisodeFeed(const FeedSpec& spec, const Index& index)
    : classes_(episode_classes(index)),
      augments_(spec.episodes->augment),
      places_(*spec.episodes, spec.episode_layout) {
  samplers_.push_back({spec.seed, EpisodeSampler(*spec.episodes, classes_, spec.seed)});
}

EpisodeSampler& EpisodeFeed::sampler(std::uint64_t seed) {
  for (Seeded& each : samplers_) {
    if (each.seed == seed) return each.sampler;
  }
  if (samplers_.size() == 2) samplers_.pop_back();
  samplers_.push_back({seed, EpisodeSampler(samplers_.front().sampler.spec(), classes_, seed)});
  return samplers_.back().sampler;
}

const Episode& EpisodeFeed::episode(const EpisodeKey& key) {
  if (key_ != key) {
    key_.reset();
    sampler(key.seed).episode(key.epoch, key.ordinal, episode_);
    key_ = key;
  }
  return episode_;
}

EpisodeImage EpisodeFeed::make(const EpisodeKey& key, std::uint64_t sample, std::uint32_t place, std::uint32_t within,
                               std::uint64_t row) {
  const std::size_t ways = episode_.classes.size();
  const std::uint32_t number = place < ways ? episode_.classes[place] : episode_.distractors[place - ways];
  EpisodeImage image{.sample = sample,
                     .place = place,
                     .within = within,
                     .label = place < ways ? std::int64_t{episode_.labels[place]} : kNoLabel,
                     .turned = std::nullopt,
                     .augment = sampler(key.seed).augment(key.epoch, key.ordinal, row)};
  if (const std::size_t turned = number / classes_.size(); turned != 0) image.turned = augments_[turned - 1];
  return image;
}

std::optional<EpisodeImage> EpisodeFeed::image(const EpisodeKey& key, std::uint64_t part) {
  const Episode& of = episode(key);
  const EpisodeShape& shape = places_.shape();
  if (part < shape.support) {
    if (part >= of.support.size()) return std::nullopt;
    const Within at = locate(of.sizes.shots, part);
    return make(key, of.support[part], at.place, at.number, part);
  }
  part -= shape.support;
  if (part < shape.queries) {
    if (part >= of.query.size()) return std::nullopt;
    const Within at = locate(of.sizes.queries, part);
    return make(key, of.query[part], at.place, of.sizes.shots[at.place] + at.number, of.support.size() + part);
  }
  part -= shape.queries;
  if (part >= of.unlabelled.size()) return std::nullopt;
  const std::size_t each = of.unlabelled.size() / (of.classes.size() + of.distractors.size());
  const auto place = static_cast<std::uint32_t>(part / each);
  const std::uint32_t before = place < of.classes.size() ? of.sizes.shots[place] + of.sizes.queries[place] : 0;
  EpisodeImage image = make(key, of.unlabelled[part], place, before + static_cast<std::uint32_t>(part % each),
                            of.support.size() + of.query.size() + part);
  image.label = kNoLabel;
  return image;
}

std::optional<std::uint64_t> EpisodeFeed::substitute(const EpisodeKey& key, const EpisodeImage& image,
                                                     std::uint64_t attempt) {
  return sampler(key.seed).substitute(key.epoch, key.ordinal, image.place, image.within, attempt);
}

}  // namespace feedring
