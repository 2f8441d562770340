// SPDX-License-Identifier: Apache-2.0
// Sets of classes as numbers: exact counts of them, and the set that has a number, without a list of sets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace feedring {

__extension__ using Wide = unsigned __int128;

/// C(n, k): how many sets of k things n things have; 0 where k > n. nullopt: 2^127 or more.
[[nodiscard]] std::optional<Wide> count_subsets(std::uint64_t n, std::uint32_t k) noexcept;

/// C(n, k) to a few digits, for a message about one that is too large. Infinite beyond 10^4932.
[[nodiscard]] long double about_subsets(std::uint64_t n, std::uint32_t k) noexcept;

/// The set with number `rank` in colexicographic order, ascending: {0,1}, {0,2}, {1,2}, {0,3}, … for two. The number of
/// c1 < c2 < … < ck is C(c1, 1) + C(c2, 2) + … + C(ck, k) (Knuth, The Art of Computer Programming 4A, 7.2.1.3, theorem
/// L), which does not depend on n. Precondition: rank < C(n, set.size()) < 2^127.
void unrank_subset(Wide rank, std::uint32_t n, std::span<std::uint32_t> set) noexcept;

}  // namespace feedring
