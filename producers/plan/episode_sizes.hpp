// SPDX-License-Identifier: Apache-2.0
// How many samples an episode takes of each of its classes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "producers/plan/episode_spec.hpp"
#include "producers/plan/small_draw.hpp"

namespace feedring {

/// By place of the class in the episode.
struct ClassSizes {
  std::vector<std::uint32_t> shots;
  std::vector<std::uint32_t> queries;
};

/// The most that any episode has: what a slot has room for.
struct EpisodeShape {
  std::uint32_t ways = 0;
  std::uint64_t support = 0;
  std::uint64_t queries = 0;
  std::uint64_t unlabelled = 0;
  bool operator==(const EpisodeShape&) const = default;
};
[[nodiscard]] EpisodeShape shape_of(const EpisodeSpec& spec);

/// Draws the sizes of an episode whose classes have `samples` samples. `draw` is of Stream::kSizes, behind the number
/// of ways where that is drawn. Precondition: each class has samples_needed(spec).
///
/// sizes = "meta-dataset" is the rule of Triantafillou et al., "Meta-Dataset" (ICLR 2020), section 3.2 and its code,
/// for n_c samples of class c: all classes have q = min(queries, min_c floor(n_c / 2)) queries; with b uniform in [0,
/// 1), the support set has S = min(support_limit, sum_c floor(b * min(shots, n_c - q) + 1)) samples; with w_c = n_c *
/// e^u, u uniform in [-ln 2, ln 2), class c has min(floor(w_c / sum(w) * (S - ways)) + 1, n_c - q) of them. The sums
/// are in double, in the order of the classes.
void draw_sizes(const EpisodeSpec& spec, std::span<const std::uint32_t> samples, SmallDraw& draw, ClassSizes& sizes);

}  // namespace feedring
