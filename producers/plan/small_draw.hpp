// SPDX-License-Identifier: Apache-2.0
// Small random integers, two to a word of the generator: an episode needs a hundred of them, and half of its time would
// otherwise go into random bits that nobody looks at.
#pragma once

#include <cstdint>
#include <utility>

#include "producers/plan/draw.hpp"

namespace feedring {

/// The numbers of a Draw, cut in halves: of each word the lower 32 bits come first. A value type, as Draw is.
class SmallDraw {
 public:
  explicit SmallDraw(const Draw& draw) noexcept : draw_(draw) {}

  /// Uniform in [0, n), without bias, by Lemire's method on 32 bits. Precondition: n >= 1. Takes half a word, more with
  /// a probability below n / 2^32.
  std::uint32_t below(std::uint32_t n) noexcept {
    std::uint64_t product = std::uint64_t{half()} * n;
    if (static_cast<std::uint32_t>(product) < n) {
      const std::uint32_t surplus = (0 - n) % n;
      while (static_cast<std::uint32_t>(product) < surplus) product = std::uint64_t{half()} * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  /// Uniform in [low, high]. Precondition: low <= high, and not all 2^32 numbers.
  std::uint32_t between(std::uint32_t low, std::uint32_t high) noexcept { return low + below(high - low + 1); }

  /// Whole words, for what has more than 32 bits. A half that was left over stays for the next call of below().
  Draw& words() noexcept { return draw_; }

 private:
  std::uint32_t half() noexcept {
    if (left_) {
      left_ = false;
      return static_cast<std::uint32_t>(word_ >> 32);
    }
    word_ = draw_.bits();
    left_ = true;
    return static_cast<std::uint32_t>(word_);
  }

  Draw draw_;
  std::uint64_t word_ = 0;
  bool left_ = false;  ///< the upper half of word_ is not taken yet
};

}  // namespace feedring
