// SPDX-License-Identifier: Apache-2.0
// Some of n things without repetition, in random order: the classes of an episode, and the samples of a class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "producers/plan/small_draw.hpp"

namespace feedring {

/// The beginning of a Fisher-Yates shuffle of 0 … n-1: each ordered choice of distinct numbers is as likely as any
/// other, at exactly one draw a number, whatever n is. What the shuffle displaced is put back afterwards, so that a
/// choice costs its own length and not n. One per thread; keeps at most 256 KiB, plus 32 bytes per number of the
/// longest choice from more than 65536.
class SampleDraw {
 public:
  /// Fills `out`. Precondition: out.size() <= n.
  void operator()(std::uint32_t n, SmallDraw& draw, std::span<std::uint32_t> out);

 private:
  void from_table(std::uint32_t n, SmallDraw& draw, std::span<std::uint32_t> out);
  void from_map(std::uint32_t n, SmallDraw& draw, std::span<std::uint32_t> out);

  struct Displaced {
    std::uint32_t place;
    std::uint32_t item;
  };
  Displaced& displaced(std::uint32_t place);

  std::vector<std::uint32_t> table_;    ///< table_[i] = i between calls
  std::vector<std::uint32_t> partner_;  ///< the places that the table's numbers changed with
  std::vector<Displaced> map_;          ///< open addressing; a power of two
};

}  // namespace feedring
