// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/finish_kernels.hpp"

#include <algorithm>

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

// Elsewhere the tables do it: without blocks of 16 bytes, or with vectors whose length is not known here.
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

std::size_t RunAffine(const Affine& /*affine*/, const std::uint8_t* /*rgb*/, std::size_t /*pixels*/,
                      std::uint8_t* /*out*/) {
  return 0;
}

#else

using F32 = hn::ScalableTag<float>;
using V32 = hn::Vec<F32>;
constexpr F32 f32;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;

// The upper halves of its lanes are the nearest bfloat16 values, ties to even; no lane is NaN.
HWY_INLINE hn::Vec<U32> round_to_upper_half(V32 values) {
  const U32 u32;
  const auto bits = hn::BitCast(u32, values);
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

// Writes one vector's elements as kTo.
template <Dtype kTo>
HWY_INLINE void put(V32 values, std::uint8_t* out) {
  if constexpr (kTo == Dtype::kFloat16) {
    const hn::Rebind<hwy::float16_t, F32> f16;
    const hn::RebindToUnsigned<decltype(f16)> u16;
    hn::StoreU(hn::BitCast(u16, hn::DemoteTo(f16, values)), u16, reinterpret_cast<std::uint16_t*>(out));
  } else if constexpr (kTo == Dtype::kBfloat16) {
    const hn::Rebind<std::uint16_t, F32> u16;
    const auto upper = hn::BitCast(I32(), hn::ShiftRight<16>(round_to_upper_half(values)));
    hn::StoreU(hn::DemoteTo(u16, upper), u16, reinterpret_cast<std::uint16_t*>(out));
  } else {
    hn::StoreU(values, f32, reinterpret_cast<float*>(out));
  }
}

// What the lanes of one vector are computed with.
struct Lanes {
  V32 mean;
  V32 std;
  V32 inverse;
};

HWY_INLINE Lanes make_lanes(V32 mean, V32 std) { return {mean, std, hn::Div(hn::Set(f32, 1.0F), std)}; }

template <Dtype kStep>
HWY_INLINE V32 affine_of(hn::Vec<I32> values, V32 scale, const Lanes& lanes) {
  const V32 scaled = rounded<kStep>(hn::Mul(hn::ConvertTo(f32, values), scale));
  const V32 shifted = rounded<kStep>(hn::Sub(scaled, lanes.mean));
#if HWY_NATIVE_FMA
  // A division by a multiplication and two corrections, which round as a division does but for rare divisors (P.
  // Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990, theorem 8).
  const V32 about = hn::Mul(shifted, lanes.inverse);
  const V32 rest = hn::NegMulAdd(about, lanes.std, shifted);
  return rounded<kStep>(hn::MulAdd(rest, lanes.inverse, about));
#else
  return rounded<kStep>(hn::Div(shifted, lanes.std));
#endif
}

// Interleaved elements: three vectors, after which the channels come in the same lanes again.
template <Dtype kStep, Dtype kTo>
std::size_t AffineInterleaved(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  constexpr std::size_t kMost = hn::MaxLanes(f32);
  const std::size_t lanes = hn::Lanes(f32);
  float mean[3 * kMost];
  float std[3 * kMost];
  for (std::size_t i = 0; i < 3 * lanes; ++i) {
    mean[i] = affine.mean[i % 3];
    std[i] = affine.std[i % 3];
  }
  const V32 scale = hn::Set(f32, affine.scale);
  const Lanes first = make_lanes(hn::LoadU(f32, mean), hn::LoadU(f32, std));
  const Lanes second = make_lanes(hn::LoadU(f32, mean + lanes), hn::LoadU(f32, std + lanes));
  const Lanes third = make_lanes(hn::LoadU(f32, mean + 2 * lanes), hn::LoadU(f32, std + 2 * lanes));
  const std::size_t step = lanes * bytes_of(kTo);
  const auto values = [](const std::uint8_t* from) {
    return hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<std::uint8_t, F32>(), from));
  };
  std::size_t done = 0;
  for (; done + lanes <= pixels; done += lanes, rgb += 3 * lanes, out += 3 * step) {
    put<kTo>(affine_of<kStep>(values(rgb), scale, first), out);
    put<kTo>(affine_of<kStep>(values(rgb + lanes), scale, second), out + step);
    put<kTo>(affine_of<kStep>(values(rgb + 2 * lanes), scale, third), out + 2 * step);
  }
  return done;
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

template <Dtype kStep, Dtype kTo>
std::size_t AffinePlanes(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  // So many pixels at a time, channel by channel: they stay in the first cache, and each plane grows in long runs.
  constexpr std::size_t kRun = 2048;
  const std::size_t lanes = hn::Lanes(f32);
  const V32 scale = hn::Set(f32, affine.scale);
  const std::size_t all = pixels - pixels % lanes;
  for (std::size_t begin = 0; begin < all; begin += kRun) {
    const std::size_t end = std::min(begin + kRun, all);
    for (std::size_t c = 0; c < 3; ++c) {
      const auto pick = hn::LoadDup128(hn::Repartition<std::uint8_t, F32>(), kChannel[c]);
      const Lanes of = make_lanes(hn::Set(f32, affine.mean[c]), hn::Set(f32, affine.std[c]));
      std::uint8_t* to = out + c * pixels * bytes_of(kTo);
      for (std::size_t i = begin; i < end; i += lanes) {
        const auto values = hn::BitCast(I32(), hn::TableLookupBytesOr0(load_pixels(rgb + 3 * i), pick));
        put<kTo>(affine_of<kStep>(values, scale, of), to + i * bytes_of(kTo));
      }
    }
  }
  return all;
}

template <Dtype kStep, Dtype kTo>
std::size_t AffineOf(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  return affine.layout == Layout::kNhwc ? AffineInterleaved<kStep, kTo>(affine, rgb, pixels, out)
                                        : AffinePlanes<kStep, kTo>(affine, rgb, pixels, out);
}

// A chain whose operations are in 16 bits ends in these bits; one in float32 may end in any.
std::size_t RunAffine(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  constexpr Dtype kWhole = Dtype::kFloat32;
  if (affine.step == kWhole) {
    if (affine.to == kWhole) return AffineOf<kWhole, kWhole>(affine, rgb, pixels, out);
    if (affine.to == Dtype::kFloat16) return AffineOf<kWhole, Dtype::kFloat16>(affine, rgb, pixels, out);
    if (affine.to == Dtype::kBfloat16) return AffineOf<kWhole, Dtype::kBfloat16>(affine, rgb, pixels, out);
  }
  if (affine.step != affine.to) return 0;
  if (affine.to == Dtype::kFloat16) return AffineOf<Dtype::kFloat16, Dtype::kFloat16>(affine, rgb, pixels, out);
  if (affine.to == Dtype::kBfloat16) return AffineOf<Dtype::kBfloat16, Dtype::kBfloat16>(affine, rgb, pixels, out);
  return 0;
}

#endif

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::kernels {

HWY_EXPORT(SplitChannels);
HWY_EXPORT(RunAffine);

void split_channels(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* red, std::uint8_t* green,
                    std::uint8_t* blue) {
  HWY_DYNAMIC_DISPATCH(SplitChannels)(rgb, pixels, red, green, blue);
}

std::size_t run_affine(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  return HWY_DYNAMIC_DISPATCH(RunAffine)(affine, rgb, pixels, out);
}

}  // namespace feedring::kernels
#endif  // HWY_ONCE
