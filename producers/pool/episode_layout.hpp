// SPDX-License-Identifier: Apache-2.0
// Where the images of an episode lie in a slot. A row of the ring is an episode, its parts are the images: first the
// support set, then the queries, then the unlabelled ones, each by class in the order of the episode's classes. Where
// an episode has fewer than it may have, the last parts of each kind are padding.
#pragma once

#include <cstdint>
#include <vector>

#include "producers/config/feed_spec.hpp"
#include "producers/plan/episode_sizes.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {

/// Names of tensors, here so that writer and layout spell them alike. docs/episodes.md has shapes and meanings.
namespace episode_tensor {
inline constexpr const char* kOrdinal = "ordinal";
inline constexpr const char* kClassIds = "class_ids";
inline constexpr const char* kCounts = "counts";
inline constexpr const char* kSampleIds = "sample_ids";
inline constexpr const char* kValid = "valid";
inline constexpr const char* kStatus = "status";
}  // namespace episode_tensor

/// The tensors that hold one kind of images; `labels` is nullptr where there are none.
struct EpisodeColumn {
  const char* images;
  const char* labels;
  const char* mask;
};
/// All kinds; a layout has some of them.
inline constexpr EpisodeColumn kEpisodeColumns[] = {{"support_images", "support_labels", "support_mask"},
                                                    {"query_images", "query_labels", "query_mask"},
                                                    {"unlabelled_images", nullptr, "unlabelled_mask"},
                                                    {"images", "labels", "mask"}};
/// The tensors of one kind, of which each row has so many images.
struct EpisodeImages {
  std::uint32_t column;  ///< in kEpisodeColumns
  std::uint64_t count;
};
/// Where a part lies: which of those tensors, at which place in a row of theirs; and in that of sample_ids.
struct PartPlace {
  std::uint32_t column;  ///< in kEpisodeColumns
  std::uint64_t at;
  std::uint64_t id_at;
};

class EpisodePlaces {
 public:
  EpisodePlaces(const EpisodeSpec& spec, EpisodeLayout layout);

  /// The most that an episode has.
  [[nodiscard]] const EpisodeShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::uint32_t parts() const noexcept {
    return static_cast<std::uint32_t>(shape_.support + shape_.queries + shape_.unlabelled);
  }
  /// Precondition: part < parts().
  [[nodiscard]] PartPlace place(std::uint64_t part) const noexcept;
  /// class_ids goes by label, not by place in the episode.
  [[nodiscard]] bool classes_by_label() const noexcept { return layout_ == EpisodeLayout::kEasyfsl; }
  /// The tensors of images, in the slot's order.
  [[nodiscard]] std::vector<EpisodeImages> images() const;
  /// All tensors of a slot, for images of this size.
  [[nodiscard]] std::vector<TensorSpec> tensors(std::uint32_t height, std::uint32_t width, Dtype dtype,
                                                Layout layout) const;

 private:
  EpisodeShape shape_;
  EpisodeLayout layout_;
  std::uint64_t shots_;    ///< of each class, for kLearn2learn
  std::uint64_t queries_;  ///< likewise
};

}  // namespace feedring
