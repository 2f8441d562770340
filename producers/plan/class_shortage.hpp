// SPDX-License-Identifier: Apache-2.0
// What is said of data with too few or too small classes: which they are, and the largest episodes that it can give.
// Internal to class_pool.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "producers/plan/class_pool.hpp"

namespace feedring {

/// `small` have fewer samples than needed, `large` classes would be left without them.
[[noreturn]] void refuse_small(const EpisodeSpec& spec, const std::vector<SampleClass>& classes,
                               const std::vector<std::uint32_t>& small, std::size_t large);

/// The largest group of `source` (a key of the mixture, or empty) has `largest` classes, augmented ones included.
[[noreturn]] void refuse_few(const EpisodeSpec& spec, std::string_view source, std::uint64_t largest,
                             std::size_t groups);

}  // namespace feedring
