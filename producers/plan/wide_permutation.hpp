// SPDX-License-Identifier: Apache-2.0
// The shuffle of permutation.hpp over up to 2^127 items: the order in which all sets of classes have their turn.
#pragma once

#include <cstdint>
#include <vector>

#include "producers/plan/draw.hpp"
#include "producers/plan/subset_rank.hpp"

namespace feedring {

/// A keyed permutation of [0, n). Immutable after construction; may be used by many threads.
class WidePermutation {
 public:
  /// 1 <= n <= 2^127. The round keys are the next numbers of `draw`. Takes some 10 µs, and 14 KiB, at most.
  WidePermutation(Wide n, Draw draw);

  /// The item at `position`. Precondition: position < n.
  [[nodiscard]] Wide operator()(Wide position) const noexcept;

 private:
  struct Round {
    Wide pivot;
    std::uint64_t key_low;
    std::uint64_t key_high;
  };

  Wide n_;
  std::vector<Round> rounds_;
};

}  // namespace feedring
