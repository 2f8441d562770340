// SPDX-License-Identifier: Apache-2.0
// Choices that are not equally likely: the classes and the data sets of an episode by weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "producers/plan/draw.hpp"

namespace feedring {

/// The weights as whole numbers that are proportional to them, the largest 2^32, so that a choice is exact arithmetic
/// on every machine. A weight above zero never becomes zero. Precondition: weights are finite and not negative, one is
/// above zero.
[[nodiscard]] std::vector<std::uint64_t> whole_weights(const std::vector<double>& weights);

/// Draws numbers with probability proportional to their weight among those that are left: a tree of partial sums
/// (Fenwick, "A new data structure for cumulative frequency tables", 1994), so that a draw costs O(log n) and no table
/// is made anew.
class WeightedDraw {
 public:
  /// Fewer than 2^31 weights, each at most 2^32.
  explicit WeightedDraw(std::vector<std::uint64_t> weights);

  /// A number in [begin, end), which is taken out until it is put back. Precondition: one with a weight above zero is
  /// left there.
  std::uint32_t take(Draw& draw, std::uint32_t begin, std::uint32_t end);
  void put_back(std::uint32_t number) { add(number, weights_[number]); }

 private:
  void add(std::uint32_t number, std::uint64_t weight);
  [[nodiscard]] std::uint64_t sum_before(std::uint32_t number) const noexcept;

  std::vector<std::uint64_t> weights_;
  std::vector<std::uint64_t> sums_;  ///< sums_[i] covers the numbers [i - lowest bit of i, i)
};

}  // namespace feedring
