// SPDX-License-Identifier: Apache-2.0
// The arithmetic of Finish's kernels on vectors, and how their elements are written. Compiled once for each instruction
// set.
#if defined(FEEDRING_AFFINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_AFFINE_INL
#undef FEEDRING_AFFINE_INL
#else
#define FEEDRING_AFFINE_INL
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "producers/transform/finish_kernels.hpp"

// Not without blocks of 16 bytes, or with vectors whose length is not known here.
#undef FEEDRING_AFFINE_VECTORS
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
#define FEEDRING_AFFINE_VECTORS 0
#else
#define FEEDRING_AFFINE_VECTORS 1
#endif

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if FEEDRING_AFFINE_VECTORS

using F32 = hn::ScalableTag<float>;
using V32 = hn::Vec<F32>;
constexpr F32 f32;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using U16 = hn::Repartition<std::uint16_t, F32>;

// What is done about a value in the middle between two of 16 bits.
enum class Ties { kEven, kAway };

// The upper halves of its lanes are the nearest bfloat16 values; no lane is NaN.
template <Ties kTies = Ties::kEven>
HWY_INLINE hn::Vec<U32> round_to_upper_half(V32 values) {
  const U32 u32;
  const auto bits = hn::BitCast(u32, values);
  if constexpr (kTies == Ties::kAway) return hn::Add(bits, hn::Set(u32, 0x8000));
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 1));
  return hn::Add(bits, hn::Add(odd, hn::Set(u32, 0x7FFF)));
}

// The nearest values of kTo.
template <Dtype kTo>
HWY_INLINE V32 rounded(V32 values) {
  if constexpr (kTo == Dtype::kFloat16) {
    return hn::PromoteTo(f32, hn::DemoteTo(hn::Rebind<hwy::float16_t, F32>(), values));
  } else if constexpr (kTo == Dtype::kBfloat16) {
    return hn::BitCast(f32, hn::And(round_to_upper_half(values), hn::Set(U32(), 0xFFFF0000)));
  } else {
    return values;
  }
}

// One number a lane: lane i has that of channel (first + i * step) % 3.
HWY_INLINE V32 spread(const std::array<float, 3>& channels, std::size_t first, std::size_t step) {
  float lanes[hn::MaxLanes(f32)];
  for (std::size_t i = 0; i < hn::Lanes(f32); ++i) lanes[i] = channels[(first + i * step) % 3];
  return hn::LoadU(f32, lanes);
}

// Step by step, as Affine says; each result is rounded to kStep.
template <Dtype kStep>
struct Steps {
  static constexpr Ties kTies = Ties::kEven;
  V32 scale, mean, std, inverse;

  HWY_INLINE Steps(const Affine& affine, std::size_t first, std::size_t step)
      : scale(hn::Set(f32, affine.scale)),
        mean(spread(affine.mean, first, step)),
        std(spread(affine.std, first, step)),
        inverse(hn::Div(hn::Set(f32, 1.0F), std)) {}

  [[nodiscard]] HWY_INLINE V32 of(hn::Vec<I32> values) const {
    const V32 scaled = rounded<kStep>(hn::Mul(hn::ConvertTo(f32, values), scale));
    const V32 shifted = rounded<kStep>(hn::Sub(scaled, mean));
#if HWY_NATIVE_FMA
    // A division by a multiplication and two corrections, which round as a division does but for rare divisors (P.
    // Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990, theorem 8).
    const V32 about = hn::Mul(shifted, inverse);
    const V32 rest = hn::NegMulAdd(about, std, shifted);
    return rounded<kStep>(hn::MulAdd(rest, inverse, about));
#else
    return rounded<kStep>(hn::Div(shifted, std));
#endif
  }
};

// A Line, whose numbers are chosen so that it has no ties that matter.
struct Straight {
  static constexpr Ties kTies = Ties::kAway;
  V32 slope, offset;

  HWY_INLINE Straight(const Affine& affine, std::size_t first, std::size_t step)
      : slope(spread(affine.line->slope, first, step)), offset(spread(affine.line->offset, first, step)) {}

  [[nodiscard]] HWY_INLINE V32 of(hn::Vec<I32> values) const {
    return hn::MulAdd(hn::ConvertTo(f32, values), slope, offset);
  }
};

// Writes the elements of two vectors, one behind the other, as kTo.
template <Dtype kTo, Ties kTies>
HWY_INLINE void put(V32 first, V32 second, std::uint8_t* out) {
  if constexpr (kTo == Dtype::kFloat32) {
    auto* to = reinterpret_cast<float*>(out);
    hn::StoreU(first, f32, to);
    hn::StoreU(second, f32, to + hn::Lanes(f32));
  } else {
    hn::Vec<U16> both;
    if constexpr (kTo == Dtype::kFloat16) {
      const hn::Rebind<hwy::float16_t, F32> f16;
      const hn::Half<U16> half;
      both =
          hn::Combine(U16(), hn::BitCast(half, hn::DemoteTo(f16, second)), hn::BitCast(half, hn::DemoteTo(f16, first)));
    } else {
      both = hn::ConcatOdd(U16(), hn::BitCast(U16(), round_to_upper_half<kTies>(second)),
                           hn::BitCast(U16(), round_to_upper_half<kTies>(first)));
    }
    hn::StoreU(both, U16(), reinterpret_cast<std::uint16_t*>(out));
  }
}

// The bytes of the pixels of one vector's lanes: four pixels, 12 bytes, in each block of 16.
HWY_INLINE hn::Vec<hn::Repartition<std::uint8_t, F32> > load_pixels(const std::uint8_t* rgb) {
  const hn::Full128<std::uint8_t> block;
  const hn::Repartition<std::uint8_t, F32> bytes;
#if HWY_MAX_BYTES == 16
  return hn::LoadU(bytes, rgb);
#elif HWY_MAX_BYTES == 32
  return hn::Combine(bytes, hn::LoadU(block, rgb + 12), hn::LoadU(block, rgb));
#else
  const hn::Half<decltype(bytes)> half;
  return hn::Combine(bytes, hn::Combine(half, hn::LoadU(block, rgb + 36), hn::LoadU(block, rgb + 24)),
                     hn::Combine(half, hn::LoadU(block, rgb + 12), hn::LoadU(block, rgb)));
#endif
}

// One channel of four pixels as four 32 bit numbers.
constexpr std::uint8_t kNone = 0x80;
alignas(16) constexpr std::uint8_t kChannel[3][16] = {
    {0, kNone, kNone, kNone, 3, kNone, kNone, kNone, 6, kNone, kNone, kNone, 9, kNone, kNone, kNone},
    {1, kNone, kNone, kNone, 4, kNone, kNone, kNone, 7, kNone, kNone, kNone, 10, kNone, kNone, kNone},
    {2, kNone, kNone, kNone, 5, kNone, kNone, kNone, 8, kNone, kNone, kNone, 11, kNone, kNone, kNone}};

#endif

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
