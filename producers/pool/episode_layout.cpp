// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/episode_layout.hpp"

namespace feedring {
namespace {

// In kEpisodeColumns.
constexpr std::uint32_t kSupport = 0;
constexpr std::uint32_t kQuery = 1;
constexpr std::uint32_t kUnlabelled = 2;
constexpr std::uint32_t kBoth = 3;

}  // namespace

EpisodePlaces::EpisodePlaces(const EpisodeSpec& spec, EpisodeLayout layout)
    : shape_(shape_of(spec)), layout_(layout), shots_(spec.shots.high), queries_(spec.queries.high) {}

PartPlace EpisodePlaces::place(std::uint64_t part) const noexcept {
  if (layout_ == EpisodeLayout::kLearn2learn) {
    // The samples of a class lie together. Where there are as many shots as queries they alternate, as the examples of
    // MAML take every second row for adaptation; else the shots come first, as those of ProtoNet take the first rows.
    const bool query = part >= shape_.support;
    const std::uint64_t of_class = query ? queries_ : shots_;
    const std::uint64_t index = query ? part - shape_.support : part;
    const std::uint64_t within = index % of_class;
    const std::uint64_t offset = shots_ == queries_ ? 2 * within + (query ? 1 : 0) : within + (query ? shots_ : 0);
    const std::uint64_t at = index / of_class * (shots_ + queries_) + offset;
    return {kBoth, at, at};
  }
  if (part < shape_.support) return {kSupport, part, part};
  if (part < shape_.support + shape_.queries) return {kQuery, part - shape_.support, part};
  return {kUnlabelled, part - shape_.support - shape_.queries, part};
}

std::vector<EpisodeImages> EpisodePlaces::images() const {
  if (layout_ == EpisodeLayout::kLearn2learn) return {{kBoth, shape_.support + shape_.queries}};
  std::vector<EpisodeImages> all;
  for (const EpisodeImages& each :
       {EpisodeImages{kSupport, shape_.support}, {kQuery, shape_.queries}, {kUnlabelled, shape_.unlabelled}}) {
    if (each.count != 0) all.push_back(each);
  }
  return all;
}

std::vector<TensorSpec> EpisodePlaces::tensors(std::uint32_t height, std::uint32_t width, Dtype dtype,
                                               Layout layout) const {
  const std::uint64_t pixels = std::uint64_t{height} * width;
  std::vector<std::uint64_t> strides;  // of images seen as (count, 3, H, W)
  if (layout == Layout::kNhwc) strides = {3 * pixels, 1, std::uint64_t{3} * width, 3};
  std::vector<TensorSpec> tensors;
  for (const auto& [kind, count] : images()) {
    const EpisodeColumn& column = kEpisodeColumns[kind];
    tensors.push_back({column.images, dtype, {count, 3, height, width}, strides});
    if (column.labels != nullptr) tensors.push_back({column.labels, Dtype::kInt64, {count}, {}});
    tensors.push_back({column.mask, Dtype::kUint8, {count}, {}});
  }
  tensors.push_back({episode_tensor::kClassIds, Dtype::kInt64, {shape_.ways}, {}});
  tensors.push_back({episode_tensor::kCounts, Dtype::kInt64, {shape_.ways, 2}, {}});
  tensors.push_back({episode_tensor::kSampleIds, Dtype::kInt64, {parts()}, {}});
  tensors.push_back({episode_tensor::kOrdinal, Dtype::kInt64, {}, {}});
  tensors.push_back({episode_tensor::kValid, Dtype::kUint8, {}, {}});
  tensors.push_back({episode_tensor::kStatus, Dtype::kUint8, {parts()}, {}});
  return tensors;
}

}  // namespace feedring
