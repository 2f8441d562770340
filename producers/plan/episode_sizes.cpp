// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/episode_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "producers/plan/exact_math.hpp"

namespace feedring {
namespace {

void meta_dataset(const EpisodeSpec& spec, std::span<const std::uint32_t> samples, Draw& draw, ClassSizes& sizes) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  const std::size_t ways = samples.size();
  const std::uint32_t queries = std::min(spec.queries.high, *std::min_element(samples.begin(), samples.end()) / 2);
  sizes.queries.assign(ways, queries);
  const double beta = draw.uniform();
  std::uint64_t support = 0;
  for (const std::uint32_t n : samples)
    support += static_cast<std::uint64_t>(std::floor(beta * std::min(spec.shots.high, n - queries) + 1.0));
  const auto spare = static_cast<double>(std::min<std::uint64_t>(support, spec.support_limit) - ways);
  std::vector<double> weights;
  double sum = 0;
  for (const std::uint32_t n : samples) {
    weights.push_back(n * exact_exp((2.0 * draw.uniform() - 1.0) * kLn2));
    sum += weights.back();
  }
  sizes.shots.clear();
  for (std::size_t c = 0; c < ways; ++c) {
    const auto shots = static_cast<std::uint32_t>(std::floor(weights[c] / sum * spare)) + 1;
    sizes.shots.push_back(std::min(shots, samples[c] - queries));
  }
}

/// Each query from all samples that are left, so that a class has them in proportion to what it has.
void split_uniformly(const EpisodeSpec& spec, std::span<const std::uint32_t> samples, std::uint32_t queries, Draw& draw,
                     ClassSizes& sizes) {
  std::vector<std::uint64_t> left;
  for (std::size_t c = 0; c < samples.size(); ++c) left.push_back(samples[c] - sizes.shots[c] - spec.unlabelled);
  std::uint64_t sum = std::accumulate(left.begin(), left.end(), std::uint64_t{0});
  sizes.queries.assign(samples.size(), 0);
  for (std::uint64_t q = samples.size() * std::uint64_t{queries}; q > 0; --q) {
    std::uint64_t at = draw.below(sum--);
    std::size_t c = 0;
    while (at >= left[c]) at -= left[c++];
    --left[c];
    ++sizes.queries[c];
  }
}

}  // namespace

EpisodeShape shape_of(const EpisodeSpec& spec) {
  EpisodeShape shape;
  shape.ways = spec.ways.high;
  shape.support =
      spec.sizes == EpisodeSizes::kMetaDataset ? spec.support_limit : std::uint64_t{spec.ways.high} * spec.shots.high;
  shape.queries = std::uint64_t{spec.ways.high} * spec.queries.high;
  shape.unlabelled = (std::uint64_t{spec.ways.high} + spec.distractors) * spec.unlabelled;
  return shape;
}

void draw_sizes(const EpisodeSpec& spec, std::span<const std::uint32_t> samples, SmallDraw& draw, ClassSizes& sizes) {
  if (spec.sizes == EpisodeSizes::kMetaDataset) return meta_dataset(spec, samples, draw.words(), sizes);
  const auto of = [&](const Count& count) { return count.varies() ? draw.between(count.low, count.high) : count.high; };
  sizes.shots.assign(samples.size(), of(spec.shots));
  const std::uint32_t queries = of(spec.queries);
  switch (spec.query_split) {
    case QuerySplit::kEven: sizes.queries.assign(samples.size(), queries); break;
    case QuerySplit::kUniform: split_uniformly(spec, samples, queries, draw.words(), sizes); break;
    case QuerySplit::kWeighted: sizes.queries = weighted_queries(spec); break;
  }
}

}  // namespace feedring
