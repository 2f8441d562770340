// SPDX-License-Identifier: Apache-2.0
// The episodes of a feed as producers ask for them: image by image.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "producers/config/feed_spec.hpp"
#include "producers/dataset/index.hpp"
#include "producers/plan/episode.hpp"
#include "producers/pool/episode_layout.hpp"

namespace feedring {

/// Which episode.
struct EpisodeKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t ordinal = 0;
  bool operator==(const EpisodeKey&) const = default;
};

/// One image of an episode.
struct EpisodeImage {
  std::uint64_t sample = 0;            ///< its number in the index
  std::uint32_t place = 0;             ///< of its class in the episode; distractors behind the classes
  std::uint32_t within = 0;            ///< its number among the class's: shots, then queries, then unlabelled ones
  std::int64_t label = 0;              ///< kNoLabel for an unlabelled one
  std::optional<ClassAugment> turned;  ///< its class is another's, turned
  Draw augment;                        ///< the random choices of its transform
};

/// What torch's losses leave out by default: the label of what is padding, failed or unlabelled.
inline constexpr std::int64_t kNoLabel = -100;

/// For one thread: it keeps the episode that was asked for last, because its images are asked for one after the other.
class EpisodeFeed {
 public:
  /// Precondition: spec.episodes. Throws as EpisodeSampler does.
  EpisodeFeed(const FeedSpec& spec, const Index& index);

  [[nodiscard]] const EpisodePlaces& places() const noexcept { return places_; }
  /// Ordinals of an epoch.
  [[nodiscard]] std::uint64_t per_epoch() const noexcept { return samplers_.front().sampler.tasks_per_epoch(); }

  /// Valid until another one is asked for. Precondition: ordinal < per_epoch().
  [[nodiscard]] const Episode& episode(const EpisodeKey& key);
  /// The image at a part; nullopt where that is padding. Precondition: part < places().parts().
  [[nodiscard]] std::optional<EpisodeImage> image(const EpisodeKey& key, std::uint64_t part);
  /// As EpisodeSampler::substitute().
  [[nodiscard]] std::optional<std::uint64_t> substitute(const EpisodeKey& key, const EpisodeImage& image,
                                                        std::uint64_t attempt);

 private:
  struct Seeded {
    std::uint64_t seed;
    EpisodeSampler sampler;
  };
  [[nodiscard]] EpisodeSampler& sampler(std::uint64_t seed);
  [[nodiscard]] EpisodeImage make(const EpisodeKey& key, std::uint64_t sample, std::uint32_t place,
                                  std::uint32_t within, std::uint64_t row);

  std::vector<SampleClass> classes_;
  std::vector<ClassAugment> augments_;
  EpisodePlaces places_;
  std::deque<Seeded> samplers_;  ///< the feed's seed, and that of a state that was loaded
  std::optional<EpisodeKey> key_;
  Episode episode_;
};

}  // namespace feedring
