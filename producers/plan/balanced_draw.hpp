// SPDX-License-Identifier: Apache-2.0
// Classes by turns: in an epoch each one is used as often as any other, or once more.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "producers/plan/sample_draw.hpp"

namespace feedring {

/// The line of all places for a class in an epoch, episode after episode, is cut into blocks of C; each block is a
/// random order of all classes. So each block uses every class once, and what is left at the end uses some once.
///
/// Where N does not divide C, an episode may begin in one block and end in the next, and must not meet a class twice.
/// Classes at the head of the next block that stand at the tail of this one change places with the first classes behind
/// the head that do not. Tail and head of a block never overlap (C >= 2N), so that a tail is never changed: any place
/// can be worked out from two orders, whatever came before. Renaming the classes changes no step of this, so that every
/// ordered choice of distinct classes remains as likely as any other for each single episode.
class BalancedDraw {
 public:
  /// `ways` divides `classes`, or classes >= 2 * ways.
  BalancedDraw(std::uint32_t classes, std::uint32_t ways) noexcept : classes_(classes), ways_(ways) {}

  /// The classes, as numbers below `classes`, of episode `ordinal`. out.size() is `ways`. Keeps the last two blocks, 4
  /// bytes a class each: making one takes some 5 ns a class, and using it next to nothing.
  void operator()(std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal, std::span<std::uint32_t> out);

 private:
  struct Block {
    std::uint64_t seed;
    std::uint64_t epoch;
    std::uint64_t number;
    std::vector<std::uint32_t> order;
    [[nodiscard]] bool is(std::uint64_t s, std::uint64_t e, std::uint64_t n) const noexcept {
      return number == n && epoch == e && seed == s;
    }
  };

  [[nodiscard]] const Block& block(std::uint64_t seed, std::uint64_t epoch, std::uint64_t number);
  [[nodiscard]] Block shuffled(std::uint64_t seed, std::uint64_t epoch, std::uint64_t number);
  void part_from_tail(Block& block);

  std::uint32_t classes_;
  std::uint32_t ways_;
  SampleDraw sample_draw_;
  std::deque<Block> kept_;
};

}  // namespace feedring
