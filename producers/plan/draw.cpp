// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/draw.hpp"

#include <Random123/philox.h>

namespace feedring {

void Draw::refill() noexcept {
  const r123::Philox4x64::ctr_type counter = {{counter_[0], counter_[1], counter_[2], counter_[3]}};
  const r123::Philox4x64::key_type key = {{seed_, 0}};
  const r123::Philox4x64::ctr_type block = r123::Philox4x64{}(counter, key);
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = block[i];
  ++counter_[3];
  used_ = 0;
}

std::uint64_t Draw::below(std::uint64_t n) noexcept {
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{bits()} * n;
  if (static_cast<std::uint64_t>(product) < n) {
    // The lowest 2^64 mod n fractions of each result are one too many; they are drawn again.
    const std::uint64_t surplus = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < surplus) product = Wide{bits()} * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

}  // namespace feedring
