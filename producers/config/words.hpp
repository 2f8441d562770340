// SPDX-License-Identifier: Apache-2.0
// The words of the configuration, the JSON specs and the command line for our enumerations, each told once.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "producers/config/feed_spec.hpp"

namespace feedring {

template <class Enum>
struct Words;

template <>
struct Words<Tasks> {
  static constexpr std::array<std::pair<std::string_view, Tasks>, 3> kAll{
      {{"sinusoid", Tasks::kSinusoid}, {"harmonic", Tasks::kHarmonic}, {"sinusoid_and_line", Tasks::kSinusoidAndLine}}};
};
template <>
struct Words<Remainder> {
  static constexpr std::array<std::pair<std::string_view, Remainder>, 3> kAll{
      {{"drop", Remainder::kDrop}, {"pad", Remainder::kPad}, {"exact", Remainder::kExact}}};
};
template <>
struct Words<OnError> {
  static constexpr std::array<std::pair<std::string_view, OnError>, 3> kAll{
      {{"raise", OnError::kRaise}, {"replace", OnError::kReplace}, {"zero", OnError::kZero}}};
};
template <>
struct Words<Shard> {
  static constexpr std::array<std::pair<std::string_view, Shard>, 2> kAll{
      {{"rank", Shard::kRank}, {"none", Shard::kNone}}};
};
template <>
struct Words<FinishBy> {
  static constexpr std::array<std::pair<std::string_view, FinishBy>, 2> kAll{
      {{"producer", FinishBy::kProducer}, {"device", FinishBy::kDevice}}};
};
template <>
struct Words<Cache> {
  static constexpr std::array<std::pair<std::string_view, Cache>, 2> kAll{
      {{"none", Cache::kNone}, {"decoded", Cache::kDecoded}}};
};
template <>
struct Words<EpisodeLayout> {
  static constexpr std::array<std::pair<std::string_view, EpisodeLayout>, 4> kAll{
      {{"feedring", EpisodeLayout::kFeedring},
       {"torchmeta", EpisodeLayout::kTorchmeta},
       {"learn2learn", EpisodeLayout::kLearn2learn},
       {"easyfsl", EpisodeLayout::kEasyfsl}}};
};
/// Of images only: labels are int64, images never are.
template <>
struct Words<Dtype> {
  static constexpr std::array<std::pair<std::string_view, Dtype>, 4> kAll{{{"uint8", Dtype::kUint8},
                                                                           {"float32", Dtype::kFloat32},
                                                                           {"float16", Dtype::kFloat16},
                                                                           {"bfloat16", Dtype::kBfloat16}}};
};
template <>
struct Words<Layout> {
  static constexpr std::array<std::pair<std::string_view, Layout>, 2> kAll{
      {{"NHWC", Layout::kNhwc}, {"NCHW", Layout::kNchw}}};
};

template <>
struct Words<EpisodeSizes> {
  static constexpr std::array<std::pair<std::string_view, EpisodeSizes>, 2> kAll{
      {{"given", EpisodeSizes::kGiven}, {"meta-dataset", EpisodeSizes::kMetaDataset}}};
};
template <>
struct Words<QuerySplit> {
  static constexpr std::array<std::pair<std::string_view, QuerySplit>, 3> kAll{
      {{"even", QuerySplit::kEven}, {"uniform", QuerySplit::kUniform}, {"weighted", QuerySplit::kWeighted}}};
};
template <>
struct Words<ClassDraw> {
  static constexpr std::array<std::pair<std::string_view, ClassDraw>, 3> kAll{
      {{"iid", ClassDraw::kIid}, {"balanced", ClassDraw::kBalanced}, {"enumerate", ClassDraw::kEnumerate}}};
};
template <>
struct Words<SampleBinding> {
  static constexpr std::array<std::pair<std::string_view, SampleBinding>, 2> kAll{
      {{"fresh", SampleBinding::kFresh}, {"tuple", SampleBinding::kTuple}}};
};
template <>
struct Words<LabelMap> {
  static constexpr std::array<std::pair<std::string_view, LabelMap>, 3> kAll{
      {{"random", LabelMap::kRandom}, {"sorted", LabelMap::kSorted}, {"identity", LabelMap::kIdentity}}};
};
template <>
struct Words<SmallClasses> {
  static constexpr std::array<std::pair<std::string_view, SmallClasses>, 2> kAll{
      {{"error", SmallClasses::kError}, {"skip", SmallClasses::kSkip}}};
};
template <>
struct Words<ClassAugment> {
  static constexpr std::array<std::pair<std::string_view, ClassAugment>, 5> kAll{
      {{"rotate90", ClassAugment::kRotate90},
       {"rotate180", ClassAugment::kRotate180},
       {"rotate270", ClassAugment::kRotate270},
       {"hflip", ClassAugment::kFlipHorizontal},
       {"vflip", ClassAugment::kFlipVertical}}};
};

template <class Enum>
[[nodiscard]] std::optional<Enum> from_word(std::string_view word) noexcept {
  for (const auto& [name, value] : Words<Enum>::kAll) {
    if (name == word) return value;
  }
  return std::nullopt;
}

template <class Enum>
[[nodiscard]] std::string_view to_word(Enum value) noexcept {
  for (const auto& [name, each] : Words<Enum>::kAll) {
    if (each == value) return name;
  }
  return "?";
}

template <class Enum>
[[nodiscard]] std::vector<std::string_view> words_of() {
  std::vector<std::string_view> words;
  for (const auto& [name, value] : Words<Enum>::kAll) words.push_back(name);
  return words;
}

}  // namespace feedring
