// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/wide_permutation.hpp"

#include <algorithm>
#include <bit>

namespace feedring {
namespace {

std::uint32_t bits_of(Wide n) noexcept {
  const auto high = static_cast<std::uint64_t>(n >> 64);
  return high != 0 ? 64 + static_cast<std::uint32_t>(std::bit_width(high))
                   : static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(n)));
}

/// Uniform in [0, n): bits enough for n - 1, drawn again while they say more, which is less than every second time.
Wide below(Wide n, Draw& draw) noexcept {
  const std::uint32_t bits = bits_of(n - 1);
  const Wide mask = (Wide{1} << bits) - 1;
  while (true) {
    Wide value = draw.bits();
    if (bits > 64) value |= Wide{draw.bits()} << 64;
    value &= mask;
    if (value < n) return value;
  }
}

// As in permutation.cpp, twice.
std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

WidePermutation::WidePermutation(Wide n, Draw draw) : n_(n) {
  rounds_.resize(36 + 3 * bits_of(n));  // for the reason given in permutation.cpp
  for (Round& round : rounds_) {
    round.pivot = below(n, draw);
    round.key_low = draw.bits();
    round.key_high = draw.bits();
  }
}

Wide WidePermutation::operator()(Wide position) const noexcept {
  const bool wide = n_ > (Wide{1} << 64);  // else the upper words are all zero
  Wide x = position;
  for (const Round& round : rounds_) {
    const Wide partner = round.pivot - x + (n_ & (0 - Wide{round.pivot < x}));
    const Wide name = std::max(x, partner);
    std::uint64_t coin = mix(static_cast<std::uint64_t>(name) ^ round.key_low);
    if (wide) coin = mix(coin ^ static_cast<std::uint64_t>(name >> 64) ^ round.key_high);
    x ^= (x ^ partner) & (0 - Wide{coin >> 63});  // no branch, as in permutation.cpp
  }
  return x;
}

}  // namespace feedring
