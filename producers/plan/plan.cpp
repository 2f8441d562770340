// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/plan.hpp"

#include <algorithm>

namespace feedring {

Plan::Plan(std::uint64_t seed, std::uint64_t epoch, const SampleOrder& order)
    : seed_(seed), epoch_(epoch), rule_(order) {
  if (!order.shuffle || !order.sums.empty() || !order.sources.empty()) return;
  order_.emplace(order.samples, Draw(seed, epoch, 0, Stream::kOrder));
}

std::uint64_t Plan::sample(std::uint64_t ordinal) const {
  if (!rule_.sources.empty()) return mixed_sample(rule_, seed_, epoch_, ordinal);
  if (!rule_.sums.empty()) {
    const std::uint64_t at = draw(ordinal, Stream::kOrder).below(rule_.sums.back());
    return static_cast<std::uint64_t>(std::upper_bound(rule_.sums.begin(), rule_.sums.end(), at) - rule_.sums.begin());
  }
  return order_ ? (*order_)(ordinal) : ordinal;
}

Draw Plan::draw(std::uint64_t ordinal, Stream stream, std::uint64_t lane) const noexcept {
  return {seed_, epoch_, ordinal, stream, lane};
}

std::optional<std::uint64_t> Plan::substitute(std::uint64_t ordinal, std::uint64_t attempt, std::uint64_t begin,
                                              std::uint64_t end) const {
  const std::uint64_t failed = sample(ordinal);
  if (failed < begin || failed >= end) return std::nullopt;
  const std::uint64_t others = end - begin - 1;
  if (attempt >= others) return std::nullopt;
  // A permutation of the other members: their numbers without the failed one's, which leaves a gap to step over.
  const std::uint64_t member = begin + Permutation(others, draw(ordinal, Stream::kSubstitute))(attempt);
  return member < failed ? member : member + 1;
}

}  // namespace feedring
