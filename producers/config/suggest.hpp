// SPDX-License-Identifier: Apache-2.0
// "Did you mean …?" for a misspelt key, feed or word.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace feedring {

/// Edits that turn `a` into `b`: insertions, deletions, substitutions and swaps of neighbours, each 1 (optimal string
/// alignment, the restricted Damerau-Levenshtein distance). ASCII letters compare without regard to case.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest candidate that is near enough to be meant (at most a third of its letters differ, one at least), else
/// the empty string. Ties go to the earlier candidate.
[[nodiscard]] std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

/// `; did you mean "batch_size"?` for the nearest candidate, where there is one.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

/// `"drop", "pad" or "exact"`.
[[nodiscard]] std::string any_of_words(const std::vector<std::string_view>& words);

}  // namespace feedring
