// SPDX-License-Identifier: Apache-2.0
// Few-shot episodes: which classes, which samples, which labels. An episode is a pure function of (seed, epoch,
// ordinal, spec, data set), as a sample of a plan is: any producer, rank or node works out any of them, in any order,
// and all agree. Memory depends neither on the number of episodes nor on that of sets of classes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "producers/plan/balanced_draw.hpp"
#include "producers/plan/class_pool.hpp"
#include "producers/plan/episode_list.hpp"
#include "producers/plan/sample_draw.hpp"
#include "producers/plan/weighted_draw.hpp"
#include "producers/plan/wide_permutation.hpp"

namespace feedring {

/// The episodes of a feed. Not for several threads at once: each takes a copy.
class EpisodeSampler {
 public:
  /// `classes` are the data set's, by number. Throws Error(kUsage) and Error(kData) as ClassPool does, and where
  /// "balanced" or "enumerate" cannot be had with so many classes and ways; with spec.list as demand_fits() does.
  EpisodeSampler(EpisodeSpec spec, const std::vector<SampleClass>& classes, std::uint64_t seed);

  /// M, the ordinals of an epoch: what a Schedule counts.
  [[nodiscard]] std::uint64_t tasks_per_epoch() const noexcept { return tasks_; }
  [[nodiscard]] EpisodeShape shape() const { return shape_of(spec_); }
  [[nodiscard]] const EpisodeSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const ClassPool& pool() const noexcept { return pool_; }

  /// Writes episode `ordinal` of `epoch`, drawn or from spec.list, into `episode`, whose memory is used again.
  /// Precondition: ordinal < tasks_per_epoch(). Takes about 0.5 µs for 80 samples of 5 classes, drawn i.i.d.
  void episode(std::uint64_t epoch, std::uint64_t ordinal, Episode& episode);

  /// The random choices of the transform for a row of the episode: rows count the support set, then the queries, then
  /// the unlabelled samples.
  [[nodiscard]] Draw augment(std::uint64_t epoch, std::uint64_t ordinal, std::uint64_t row) const noexcept {
    return {seed_, drawn_epoch(epoch), ordinal, Stream::kAugment, row};
  }

  /// on_error = "replace": what stands in for sample `row` (its shots first, then its queries, then its unlabelled
  /// ones) of class `place` (distractors behind the classes) after `attempt` substitutes have failed as well. They are
  /// the class's samples that the episode does not hold, each once; nullopt when all have been tried. Two samples of a
  /// class that both fail may have the same substitute.
  [[nodiscard]] std::optional<std::uint64_t> substitute(std::uint64_t epoch, std::uint64_t ordinal, std::uint32_t place,
                                                        std::uint32_t row, std::uint64_t attempt);

 private:
  struct Member {
    std::uint64_t begin;
    std::uint32_t count;
    std::uint32_t number;
  };
  struct SetOrder {
    std::uint64_t epoch;
    WidePermutation order;
  };

  [[nodiscard]] std::uint64_t drawn_epoch(std::uint64_t epoch) const noexcept { return spec_.fixed ? 0 : epoch; }
  void take_list(const std::vector<SampleClass>& classes);
  void plan_sets();
  void draw_classes(std::uint64_t epoch, std::uint64_t ordinal, SmallDraw& sizes);
  void draw_iid(SmallDraw& draw, SmallDraw& sizes);
  void draw_set(std::uint64_t epoch, std::uint64_t ordinal, SmallDraw& draw);
  void draw_labels(std::uint64_t epoch, std::uint64_t ordinal, Episode& episode);
  void draw_members(std::uint64_t epoch, std::uint64_t ordinal, Episode& episode);
  [[nodiscard]] std::optional<std::uint64_t> substitute_listed(std::uint64_t ordinal, std::uint32_t place,
                                                               std::uint32_t row, std::uint64_t attempt) const;
  [[nodiscard]] SmallDraw member_draw(std::uint64_t epoch, std::uint64_t ordinal, std::uint32_t place) const;
  void order_places();

  EpisodeSpec spec_;
  ClassPool pool_;
  std::uint64_t seed_;
  std::uint64_t tasks_ = 0;
  Wide sets_ = 0;                ///< kEnumerate: how many sets of classes there are
  std::vector<Member> members_;  ///< as in the pool; with spec.list all classes, augmented ones included, by number
  std::optional<WeightedDraw> sources_;
  std::optional<WeightedDraw> weighted_;
  std::optional<BalancedDraw> balanced_;
  std::optional<SetOrder> set_order_;
  SampleDraw sample_draw_;
  // Of the episode in hand:
  std::vector<std::uint32_t> places_;    ///< members, the classes' and then the distractors'
  std::vector<std::uint32_t> by_class_;  ///< kTuple: how many of places_ have a lower class number
  std::uint64_t set_key_ = 0;            ///< kTuple: the set of classes
  std::vector<std::uint32_t> drawn_;
};

}  // namespace feedring
