// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/episode_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace feedring {
namespace {

std::optional<std::string> sizes_contradict(const EpisodeSpec& spec) {
  if (spec.sizes == EpisodeSizes::kMetaDataset) {
    if (spec.query_split != QuerySplit::kEven)
      return "sizes = \"meta-dataset\" gives all classes of an episode the same number of queries: leave query_split "
             "out";
    if (spec.unlabelled != 0) return "sizes = \"meta-dataset\" knows no unlabelled samples: leave unlabelled out";
    if (spec.support_limit < spec.ways.high) {
      return fmt::format("support_limit = {} does not hold a sample of each of ways = {} classes", spec.support_limit,
                         spec.ways.high);
    }
  }
  if (spec.query_split == QuerySplit::kWeighted) {
    if (spec.ways.varies() || spec.queries.varies())
      return "query_split = \"weighted\" needs a fixed number of ways and queries";
    if (spec.query_weights.size() != spec.ways.high) {
      return fmt::format("query_weights has {} numbers for ways = {}: give one for each way", spec.query_weights.size(),
                         spec.ways.high);
    }
    if (spec.queries.high == 0) return "query_split = \"weighted\" has no queries to split: queries = 0";
  } else if (!spec.query_weights.empty()) {
    return "query_weights has a meaning with query_split = \"weighted\" only";
  }
  return std::nullopt;
}

std::optional<std::string> classes_contradict(const EpisodeSpec& spec) {
  if (spec.classes == ClassDraw::kIid) return std::nullopt;
  const std::string_view draw = spec.classes == ClassDraw::kBalanced ? "balanced" : "enumerate";
  std::string_view with;
  if (!spec.class_weights.empty()) with = "class_weights";
  if (!spec.mixture.empty()) with = "mixture";
  if (spec.within_superclass) with = "within_superclass";
  if (spec.distractors != 0) with = "distractors";
  if (spec.ways.varies() || spec.sizes == EpisodeSizes::kMetaDataset) with = "a number of ways that varies";
  if (with.empty()) return std::nullopt;
  return fmt::format("classes = \"{}\" cannot be had with {}: choose classes = \"iid\", or leave that out", draw, with);
}

}  // namespace

std::optional<std::string> contradiction_in(const EpisodeSpec& spec) {
  if (auto sentence = sizes_contradict(spec)) return sentence;
  if (auto sentence = classes_contradict(spec)) return sentence;
  if (spec.distractors != 0 && spec.unlabelled == 0)
    return "distractors have unlabelled samples alone: say how many of each with unlabelled";
  const bool vary = spec.shots.varies() || spec.queries.varies() || spec.sizes == EpisodeSizes::kMetaDataset;
  if (spec.binding == SampleBinding::kTuple && vary)
    return "binding = \"tuple\" gives a set of classes the same samples each time: shots and queries cannot vary";
  return std::nullopt;
}

bool has_one_shape(const EpisodeSpec& spec) noexcept {
  return spec.sizes == EpisodeSizes::kGiven && !spec.ways.varies() && !spec.shots.varies() && !spec.queries.varies() &&
         spec.query_split == QuerySplit::kEven && spec.unlabelled == 0;
}

std::vector<std::uint32_t> weighted_queries(const EpisodeSpec& spec) {
  const std::size_t ways = spec.query_weights.size();
  const double sum = std::accumulate(spec.query_weights.begin(), spec.query_weights.end(), 0.0);
  const std::uint64_t total = std::uint64_t{spec.ways.high} * spec.queries.high;
  const auto spare = static_cast<double>(total - ways);
  std::vector<std::uint32_t> counts;
  std::vector<double> remainder;
  std::uint64_t given = 0;
  for (const double weight : spec.query_weights) {
    const double share = spare * (weight / sum);
    const double whole = std::min(std::floor(share), spare);
    counts.push_back(1 + static_cast<std::uint32_t>(whole));
    remainder.push_back(share - whole);
    given += counts.back();
  }
  std::vector<std::size_t> order(ways);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
  for (std::size_t i = 0; given < total; i = (i + 1) % ways, ++given) ++counts[order[i]];
  return counts;
}

}  // namespace feedring
