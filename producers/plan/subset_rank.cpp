// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/subset_rank.hpp"

#include <algorithm>

namespace feedring {
namespace {

constexpr Wide kLimit = Wide{1} << 127;

}  // namespace

std::optional<Wide> count_subsets(std::uint64_t n, std::uint32_t k) noexcept {
  if (k > n) return 0;
  const std::uint64_t steps = std::min<std::uint64_t>(k, n - k);
  // Most counts fit into 64 bits, where dividing is several times as fast. Each step's division leaves no remainder.
  std::uint64_t i = 1, small = 1, next = 0;
  for (; i <= steps && !__builtin_mul_overflow(small, n - steps + i, &next); ++i) small = next / i;
  Wide count = small;
  for (; i <= steps; ++i) {
    // count * (n - steps + i) / i is whole; dividing first keeps every part at most that large. The counts grow with i,
    // so that the first one beyond the limit decides.
    const std::uint64_t factor = n - steps + i;
    const Wide whole = count / i;
    const Wide rest = count % i;
    Wide product = 0;
    if (__builtin_mul_overflow(whole, Wide{factor}, &product)) return std::nullopt;
    if (__builtin_add_overflow(product, rest * factor / i, &count) || count >= kLimit) return std::nullopt;
  }
  return count;
}

long double about_subsets(std::uint64_t n, std::uint32_t k) noexcept {
  if (k > n) return 0;
  const std::uint64_t steps = std::min<std::uint64_t>(k, n - k);
  long double count = 1;
  for (std::uint64_t i = 1; i <= steps; ++i)
    count *= static_cast<long double>(n - steps + i) / static_cast<long double>(i);
  return count;
}

void unrank_subset(Wide rank, std::uint32_t n, std::span<std::uint32_t> set) noexcept {
  std::uint32_t above = n;  // the next smaller element is below this
  for (auto k = static_cast<std::uint32_t>(set.size()); k > 0; --k) {
    // The largest c with C(c, k) <= rank. It is at least k - 1, where the count is 0.
    std::uint32_t low = k - 1;
    std::uint32_t high = above;
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (*count_subsets(middle, k) <= rank) {
        low = middle;
      } else {
        high = middle;
      }
    }
    rank -= *count_subsets(low, k);
    set[k - 1] = low;
    above = low;
  }
}

}  // namespace feedring
