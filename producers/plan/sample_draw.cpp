// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/sample_draw.hpp"

#include <algorithm>
#include <bit>

namespace feedring {
namespace {

constexpr std::uint32_t kLargestTable = 1U << 16;
constexpr std::uint32_t kNowhere = ~std::uint32_t{0};  // no place: n is at most 2^32 - 1

}  // namespace

void SampleDraw::operator()(std::uint32_t n, SmallDraw& draw, std::span<std::uint32_t> out) {
  if (n <= kLargestTable) {
    from_table(n, draw, out);
  } else {
    from_map(n, draw, out);
  }
}

void SampleDraw::from_table(std::uint32_t n, SmallDraw& draw, std::span<std::uint32_t> out) {
  for (std::uint32_t i = static_cast<std::uint32_t>(table_.size()); i < n; ++i) table_.push_back(i);
  const auto count = static_cast<std::uint32_t>(out.size());
  if (partner_.size() < count) partner_.resize(count);
  std::uint32_t* const table = table_.data();
  std::uint32_t* const partner = partner_.data();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t j = i + draw.below(n - i);
    partner[i] = j;
    out[i] = table[j];
    table[j] = table[i];
  }
  // Only the places 0 … count-1 and the partners were written.
  for (std::uint32_t i = 0; i < count; ++i) {
    table[i] = i;
    table[partner[i]] = partner[i];
  }
}

SampleDraw::Displaced& SampleDraw::displaced(std::uint32_t place) {
  const std::size_t mask = map_.size() - 1;
  // Fibonacci hashing: places that are neighbours are spread out.
  std::size_t at = (std::uint64_t{place} * 0x9e3779b97f4a7c15) >> 40 & mask;
  while (map_[at].place != kNowhere && map_[at].place != place) at = (at + 1) & mask;
  if (map_[at].place == kNowhere) map_[at] = {place, place};
  return map_[at];
}

void SampleDraw::from_map(std::uint32_t n, SmallDraw& draw, std::span<std::uint32_t> out) {
  // Two places a number, and never more than half full.
  map_.assign(std::bit_ceil(4 * out.size() + 1), Displaced{kNowhere, 0});
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    const std::uint32_t j = i + draw.below(n - i);
    const std::uint32_t here = displaced(i).item;
    Displaced& there = displaced(j);
    out[i] = there.item;
    there.item = here;
  }
}

}  // namespace feedring
