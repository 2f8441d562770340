// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/weighted_draw.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace feedring {

std::vector<std::uint64_t> whole_weights(const std::vector<double>& weights) {
  const double largest = *std::max_element(weights.begin(), weights.end());
  std::vector<std::uint64_t> whole;
  whole.reserve(weights.size());
  for (const double weight : weights) {
    const double scaled = std::floor(weight / largest * 0x1p32 + 0.5);
    whole.push_back(weight > 0 ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(scaled)) : 0);
  }
  return whole;
}

WeightedDraw::WeightedDraw(std::vector<std::uint64_t> weights)
    : weights_(std::move(weights)), sums_(weights_.size() + 1, 0) {
  for (std::uint32_t i = 0; i < weights_.size(); ++i) add(i, weights_[i]);
}

void WeightedDraw::add(std::uint32_t number, std::uint64_t weight) {
  for (std::size_t i = std::size_t{number} + 1; i < sums_.size(); i += i & (0 - i)) sums_[i] += weight;
}

std::uint64_t WeightedDraw::sum_before(std::uint32_t number) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = number; i > 0; i &= i - 1) sum += sums_[i];
  return sum;
}

std::uint32_t WeightedDraw::take(Draw& draw, std::uint32_t begin, std::uint32_t end) {
  const std::uint64_t before = sum_before(begin);
  std::uint64_t rest = before + draw.below(sum_before(end) - before);
  // The number whose share of the line of weights holds `rest`: down the tree from its root.
  std::size_t at = 0;
  for (std::size_t step = std::bit_floor(weights_.size()); step > 0; step >>= 1) {
    if (at + step < sums_.size() && sums_[at + step] <= rest) {
      at += step;
      rest -= sums_[at];
    }
  }
  const auto number = static_cast<std::uint32_t>(at);
  add(number, 0 - weights_[number]);
  return number;
}

}  // namespace feedring
