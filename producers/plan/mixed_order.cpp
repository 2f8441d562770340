// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/mixed_order.hpp"

#include <algorithm>

#include "producers/plan/permutation.hpp"

namespace feedring {
namespace {

// Lanes of Stream::kOrder. An epoch's own permutation has lane 0.
constexpr std::uint64_t kBlocks = 1;
constexpr std::uint64_t kPasses = 2;

}  // namespace

std::uint64_t mixed_sample(const SampleOrder& order, std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal) {
  const std::uint64_t shares = order.sources.back().share_end;
  // Epochs have no end of their own here. The product wraps at 2^64, where one order goes on in the midst of another.
  const std::uint64_t at = epoch * order.per_epoch + ordinal;
  const std::uint64_t block = at / shares;
  std::uint64_t place = at % shares;
  if (order.shuffle && shares > 1) place = Permutation(shares, Draw(seed, 0, block, Stream::kOrder, kBlocks))(place);

  const auto source = std::upper_bound(order.sources.begin(), order.sources.end(), place,
                                       [](std::uint64_t p, const OrderSource& s) { return p < s.share_end; });
  const std::uint64_t share_begin = source == order.sources.begin() ? 0 : std::prev(source)->share_end;
  const std::uint64_t drawn = block * (source->share_end - share_begin) + (place - share_begin);
  const std::uint64_t size = source->end - source->begin;
  std::uint64_t member = drawn % size;
  if (order.shuffle) {
    const auto number = static_cast<std::uint64_t>(source - order.sources.begin());
    member = Permutation(size, Draw(seed, drawn / size, number, Stream::kOrder, kPasses))(member);
  }
  member += source->begin;
  return order.members.empty() ? member : order.members[member];
}

}  // namespace feedring
