// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm for random choices. A plan has to be the same on every machine, and the functions of the C
// library are not: their last bit depends on its version and on the processor. These use IEEE double +, -, * and /
// alone, in a fixed order, and are right to a few units in the last place, which is all that a draw needs.
#pragma once

namespace feedring {

/// Natural logarithm. Precondition: x is positive, normal and finite.
[[nodiscard]] double exact_log(double x) noexcept;

/// e to the power of x. Precondition: |x| <= 700.
[[nodiscard]] double exact_exp(double x) noexcept;

}  // namespace feedring
