// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/plan.hpp"

namespace feedring {

Plan::Plan(std::uint64_t seed, std::uint64_t epoch, std::uint64_t samples, bool shuffle)
    : seed_(seed), epoch_(epoch), samples_(samples) {
  if (shuffle) order_.emplace(samples, Draw(seed, epoch, 0, Stream::kOrder));
}

std::uint64_t Plan::sample(std::uint64_t ordinal) const noexcept { return order_ ? (*order_)(ordinal) : ordinal; }

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
