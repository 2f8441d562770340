// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/finish_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/transform/finish_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void SplitChannels(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* red, std::uint8_t* green,
                   std::uint8_t* blue) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    hn::Vec<decltype(d)> r, g, b;
    hn::LoadInterleaved3(d, rgb + 3 * i, r, g, b);
    hn::StoreU(r, d, red + i);
    hn::StoreU(g, d, green + i);
    hn::StoreU(b, d, blue + i);
  }
  for (; i < pixels; ++i) {
    red[i] = rgb[3 * i];
    green[i] = rgb[3 * i + 1];
    blue[i] = rgb[3 * i + 2];
  }
}

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::kernels {

HWY_EXPORT(SplitChannels);

void split_channels(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* red, std::uint8_t* green,
                    std::uint8_t* blue) {
  HWY_DYNAMIC_DISPATCH(SplitChannels)(rgb, pixels, red, green, blue);
}

}  // namespace feedring::kernels
#endif  // HWY_ONCE
