// SPDX-License-Identifier: Apache-2.0
// What the pixel kernels share, compiled once for each instruction set that a kernel file is built for (hence the odd
// guard: Highway's foreach_target.h includes the file again and again).
#if defined(FEEDRING_PIXELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_PIXELS_INL
#undef FEEDRING_PIXELS_INL
#else
#define FEEDRING_PIXELS_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "producers/transform/resample_kernels.hpp"

// Vector code, or the plain loops that it stands for where there is no byte shuffle and 16 bit multiply-add.
#undef FEEDRING_PIXEL_VECTORS
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
#define FEEDRING_PIXEL_VECTORS 1
#else
#define FEEDRING_PIXEL_VECTORS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

inline constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

#if FEEDRING_PIXEL_VECTORS

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::int16_t, D8>;
using D32 = hn::Repartition<std::int32_t, D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
constexpr D8 d8;
constexpr D16 d16;
constexpr D32 d32;

// Lane by lane a.first * b.first + a.second * b.second (pmaddwd).
HWY_INLINE V32 multiply_pairs(V8 pixels, V32 words) {
  V32 unused = hn::Zero(d32);
  return hn::ReorderWidenMulAccumulate(d32, hn::BitCast(d16, pixels), hn::BitCast(d16, words), hn::Zero(d32), unused);
}

// Both halves of one weighted sum in each lane.
struct Sum {
  V32 high;
  V32 low;
  HWY_INLINE void start() {
    high = hn::Zero(d32);
    low = hn::Set(d32, kHalf);
  }
  HWY_INLINE void add(V8 pixels, V32 weight_high, V32 weight_low) {
    high = hn::Add(high, multiply_pairs(pixels, weight_high));
    low = hn::Add(low, multiply_pairs(pixels, weight_low));
  }
  [[nodiscard]] HWY_INLINE V32 rounded() const {
    return hn::ShiftRight<kWeightBits>(hn::Add(hn::ShiftLeft<kSplitBits>(high), low));
  }
};

// Clips to 8 bits; block by block the four lanes of a, b, c, d.
HWY_INLINE V8 pack(V32 a, V32 b, V32 c, V32 d) {
  const V16 ab = hn::ReorderDemote2To(d16, a, b);
  const V16 cd = hn::ReorderDemote2To(d16, c, d);
#if HWY_TARGET == HWY_AVX2
  return V8{_mm256_packus_epi16(ab.raw, cd.raw)};
#elif HWY_TARGET <= HWY_AVX3
  return V8{_mm512_packus_epi16(ab.raw, cd.raw)};
#else
  return V8{_mm_packus_epi16(ab.raw, cd.raw)};
#endif
}

// One word of an output's weights, in every lane.
HWY_INLINE V32 weight(const std::int32_t* words, std::size_t stride, std::size_t row) {
  return hn::Set(d32, words[row * stride]);
}

#else

HWY_INLINE std::int32_t weight_at(const std::int32_t* words, std::size_t stride, std::int32_t tap) {
  const std::int32_t* pair = words + static_cast<std::size_t>(tap / 2 * 2) * stride;
  const auto half = [&](std::int32_t word) { return static_cast<std::int16_t>(tap % 2 == 0 ? word : word >> 16); };
  return half(pair[0]) * (1 << kSplitBits) + half(pair[stride]);
}

HWY_INLINE std::uint8_t clip(std::int32_t sum) {
  sum >>= kWeightBits;
  return static_cast<std::uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

#endif

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
