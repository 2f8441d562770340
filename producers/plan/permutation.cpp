// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/permutation.hpp"

#include <algorithm>
#include <bit>

namespace feedring {
namespace {

// The paper's bound falls by a constant factor per round from n^(3/2): the number of rounds must grow with log n, and
// a constant on top makes what is left small for tiny n too. Nobody attacks an order of samples, so that three rounds
// per bit of n, under half of what the bound asks for a cipher, are plenty: the tests (all orders of few items, single
// positions, neighbours, pairs of epochs) fail with 12 rounds and pass with 16.
std::size_t rounds_for(std::uint64_t n) { return 36 + 3 * static_cast<std::size_t>(std::bit_width(n)); }

// One fair coin for a pair in a round, as a mask of no or all bits: the top bit of a 64 bit mixing function (David
// Stafford's "Mix13", known from SplitMix64) of the pair's name and the round's key. Philox would do, but costs ten
// times as much; a mask, since a branch on a fair coin is guessed wrongly every second time.
std::uint64_t coin(std::uint64_t name, std::uint64_t key) noexcept {
  std::uint64_t x = name ^ key;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return 0 - (x >> 63);
}

}  // namespace

Permutation::Permutation(std::uint64_t n, Draw draw) : n_(n) {
  rounds_.resize(rounds_for(n));
  for (Round& round : rounds_) {
    round.pivot = draw.below(n);
    round.key = draw.bits();
  }
}

std::uint64_t Permutation::operator()(std::uint64_t position) const noexcept {
  std::uint64_t x = position;
  for (const Round& round : rounds_) {
    const std::uint64_t partner = round.pivot - x + (n_ & (0 - std::uint64_t{round.pivot < x}));
    x ^= (x ^ partner) & coin(std::max(x, partner), round.key);
  }
  return x;
}

}  // namespace feedring
