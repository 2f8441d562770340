// SPDX-License-Identifier: Apache-2.0
// What the tests of episodes share.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "producers/plan/episode.hpp"

namespace feedring::test {

/// Classes "c0", "c1", … with so many samples each, one class after another.
inline std::vector<SampleClass> classes_of(const std::vector<std::uint64_t>& counts) {
  std::vector<SampleClass> classes;
  std::uint64_t begin = 0;
  for (const std::uint64_t count : counts) {
    classes.push_back({"c" + std::to_string(classes.size()), begin, count});
    begin += count;
  }
  return classes;
}
inline std::vector<SampleClass> equal_classes(std::size_t classes, std::uint64_t samples) {
  return classes_of(std::vector<std::uint64_t>(classes, samples));
}

inline EpisodeSpec spec_of(std::uint32_t ways, std::uint32_t shots, std::uint32_t queries) {
  EpisodeSpec spec;
  spec.ways = {ways, ways};
  spec.shots = {shots, shots};
  spec.queries = {queries, queries};
  return spec;
}

inline Episode draw_episode(EpisodeSampler& sampler, std::uint64_t epoch, std::uint64_t ordinal) {
  Episode episode;
  sampler.episode(epoch, ordinal, episode);
  return episode;
}

/// Everything in an episode, for comparing.
inline std::vector<std::vector<std::uint64_t>> content(const Episode& e) {
  const auto wide = [](const std::vector<std::uint32_t>& v) { return std::vector<std::uint64_t>(v.begin(), v.end()); };
  return {wide(e.classes), wide(e.labels), wide(e.distractors), wide(e.sizes.shots), wide(e.sizes.queries),
          e.support,       e.query,        e.unlabelled};
}

/// Upper quantile of chi-square at p = 0.0001 (Wilson and Hilferty's approximation).
inline double chi_square_limit(double freedom) {
  const double spread = 2.0 / (9.0 * freedom);
  return freedom * std::pow(1.0 - spread + 3.719 * std::sqrt(spread), 3);
}

/// Of counts that should all be equal; `cells` of them, those never seen included.
template <class Key>
double chi_square(const std::map<Key, int>& seen, double cells) {
  double total = 0;
  for (const auto& [key, count] : seen) total += count;
  const double expected = total / cells;
  double sum = (cells - static_cast<double>(seen.size())) * expected;
  for (const auto& [key, count] : seen) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

}  // namespace feedring::test
