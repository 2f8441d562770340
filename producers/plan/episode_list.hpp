// SPDX-License-Identifier: Apache-2.0
// Episodes as values: one of them, and a list of those that were drawn before and are taken as they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "producers/plan/class_pool.hpp"
#include "producers/plan/episode_sizes.hpp"

namespace feedring {

/// One task of few-shot learning. Samples are numbers of the data set's index. They stand by class, in the order of
/// `classes`: of class j the support set has sizes.shots[j], behind those of the classes before.
struct Episode {
  std::vector<std::uint32_t> classes;      ///< distinct; augmented ones as ClassPool numbers them
  std::vector<std::uint32_t> labels;       ///< labels[j] is that of classes[j]: the numbers below classes.size()
  std::vector<std::uint32_t> distractors;  ///< classes that have unlabelled samples alone
  ClassSizes sizes;
  std::vector<std::uint64_t> support;
  std::vector<std::uint64_t> query;
  std::vector<std::uint64_t> unlabelled;  ///< spec.unlabelled of each class, then of each distractor
};

/// What a file of episodes holds. Immutable once read.
struct EpisodeList {
  std::string file;            ///< for messages, and for the feed's description
  std::string digest;          ///< of the file's lines
  std::string dataset_digest;  ///< of the data whose samples these are
  std::vector<Episode> episodes;
};

/// Throws Error(kData) where an episode of the list has not the shape that `spec` says, a class twice, or a sample that
/// is not of its class or that the episode holds in two places. `classes` are the data set's, by number.
void demand_fits(const EpisodeList& list, const EpisodeSpec& spec, const std::vector<SampleClass>& classes);

}  // namespace feedring
