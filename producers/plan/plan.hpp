// SPDX-License-Identifier: Apache-2.0
// Which sample stands at which ordinal of an epoch, and every other choice that is left to chance. A plan is a pure
// function of (seed, epoch, ordinal, spec, data set): it never sees producers, ranks, batch sizes or time, so that each
// producer of each node works it out for itself and all agree.
#pragma once

#include <cstdint>
#include <optional>

#include "producers/plan/draw.hpp"
#include "producers/plan/mixed_order.hpp"
#include "producers/plan/permutation.hpp"

namespace feedring {

/// The plan of one epoch. Immutable, may be used by many threads; made in microseconds, so that whoever meets a ticket
/// of another epoch makes another.
class Plan {
 public:
  /// Every sample once: samples >= 1, the size of the data set. Without `shuffle` the order is that of the index.
  Plan(std::uint64_t seed, std::uint64_t epoch, std::uint64_t samples, bool shuffle)
      : Plan(seed, epoch, {.samples = samples, .shuffle = shuffle, .per_epoch = samples}) {}
  /// As `order` says. With sums, each ordinal draws anew, so that a sample may come again and another not at all.
  Plan(std::uint64_t seed, std::uint64_t epoch, const SampleOrder& order);

  /// The sample (its number in the index) at `ordinal`. Precondition: ordinal < order.per_epoch.
  [[nodiscard]] std::uint64_t sample(std::uint64_t ordinal) const;

  /// The random numbers of `stream` that belong to `ordinal`: for kAugment those of the sample's transform, with a lane
  /// for each view of the sample.
  [[nodiscard]] Draw draw(std::uint64_t ordinal, Stream stream, std::uint64_t lane = 0) const noexcept;

  /// on_error = "replace": what to try in the place of the sample at `ordinal` after `attempt` substitutes have failed
  /// as well (0 first). [begin, end) are the members of its class (Index::class_range). Each other member comes once,
  /// in an order of the ordinal's own; nullopt when all have been tried, or where the sample is no member.
  [[nodiscard]] std::optional<std::uint64_t> substitute(std::uint64_t ordinal, std::uint64_t attempt,
                                                        std::uint64_t begin, std::uint64_t end) const;

  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint64_t samples() const noexcept { return rule_.samples; }

 private:
  std::uint64_t seed_;
  std::uint64_t epoch_;
  SampleOrder rule_;
  std::optional<Permutation> order_;  ///< empty: not shuffled, or by weights or shares
};

}  // namespace feedring
