// SPDX-License-Identifier: Apache-2.0
// The inner loop of a blur, compiled for several instruction sets and chosen at run time. All variants give the same
// values. Internal to this folder.
#pragma once

#include <cstddef>

namespace feedring::kernels {

/// Arrays have room for this many floats behind the last value: whole vectors are read and written.
inline constexpr std::size_t kSumSlack = 64;

/// out[i] = the sum over t of weights[t] * taps[t][i], in the order of t, each product and sum rounded.
void weighted_sum(const float* const* taps, const float* weights, std::size_t count, float* out, std::size_t values);

}  // namespace feedring::kernels
