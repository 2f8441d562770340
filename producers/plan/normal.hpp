// SPDX-License-Identifier: Apache-2.0
// Normally distributed random choices, the same on every machine.
#pragma once

#include "producers/plan/draw.hpp"

namespace feedring {

/// The x below which a standard normal number lies with probability `p`, right to a few units in the last place, in the
/// arithmetic of exact_math.hpp. Precondition: 0 < p < 1.
[[nodiscard]] double normal_quantile(double p) noexcept;

/// A standard normal number, of one word: the quantile of the middle of one of 2^53 equal parts of [0, 1].
[[nodiscard]] inline double standard_normal(Draw& random) noexcept {
  return normal_quantile((static_cast<double>(random.bits() >> 11) + 0.5) * 0x1.0p-53);
}

}  // namespace feedring
