// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/blur_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/transform/blur_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void WeightedSum(const float* const* taps, const float* weights, std::size_t count, float* out, std::size_t values) {
  const hn::CappedTag<float, kSumSlack> d;
  const std::size_t lanes = hn::Lanes(d);
  // Two vectors at once, whose sums do not wait for each other.
  for (std::size_t i = 0; i < values; i += 2 * lanes) {
    auto first = hn::Zero(d);
    auto second = hn::Zero(d);
    for (std::size_t t = 0; t < count; ++t) {
      const auto weight = hn::Set(d, weights[t]);
      first = hn::Add(first, hn::Mul(weight, hn::LoadU(d, taps[t] + i)));
      second = hn::Add(second, hn::Mul(weight, hn::LoadU(d, taps[t] + i + lanes)));
    }
    hn::StoreU(first, d, out + i);
    hn::StoreU(second, d, out + i + lanes);
  }
}

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::kernels {

HWY_EXPORT(WeightedSum);

void weighted_sum(const float* const* taps, const float* weights, std::size_t count, float* out, std::size_t values) {
  HWY_DYNAMIC_DISPATCH(WeightedSum)(taps, weights, count, out, values);
}

}  // namespace feedring::kernels
#endif  // HWY_ONCE
