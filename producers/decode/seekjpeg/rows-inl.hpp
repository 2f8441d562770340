// SPDX-License-Identifier: Apache-2.0
// Rows of samples to rows of pixels, exactly as libjpeg's: chroma doubled by its triangle filter, YCbCr to RGB with 16
// bits of fraction. All may read and write a vector behind the end of a row.
#if defined(FEEDRING_SEEKJPEG_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_SEEKJPEG_ROWS_INL
#undef FEEDRING_SEEKJPEG_ROWS_INL
#else
#define FEEDRING_SEEKJPEG_ROWS_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace feedring::seekjpeg::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using R16 = hn::CappedTag<std::int16_t, 16>;
using R8 = hn::Rebind<std::uint8_t, R16>;
using VR16 = hn::Vec<R16>;
constexpr R16 r16;
constexpr R8 r8;

HWY_INLINE VR16 load(const std::uint8_t* at) { return hn::PromoteTo(r16, hn::LoadU(r8, at)); }
HWY_INLINE VR16 thrice(VR16 a) { return hn::Add(a, hn::Add(a, a)); }
/// Samples of eight bits each, in turn.
HWY_INLINE void store_doubled(VR16 even, VR16 odd, std::uint8_t* to) {
  hn::StoreU(hn::Or(even, hn::ShiftLeft<8>(odd)), r16, reinterpret_cast<std::int16_t*>(to));
}

/// Doubles `count` samples across; the samples beside them are there.
HWY_INLINE void double_across(const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(r16)) {
    const VR16 here = thrice(load(from + i));
    const VR16 even = hn::ShiftRight<2>(hn::Add(hn::Add(here, load(from + i - 1)), hn::Set(r16, 1)));
    const VR16 odd = hn::ShiftRight<2>(hn::Add(hn::Add(here, load(from + i + 1)), hn::Set(r16, 2)));
    store_doubled(even, odd, to + 2 * i);
  }
}

/// The same, between a row and the next one above or below. `sums` is room for count + 2 numbers and a vector.
HWY_INLINE void double_both(const std::uint8_t* from, const std::uint8_t* next, std::size_t count, std::int16_t* sums,
                            std::uint8_t* to) {
  for (std::size_t i = 0; i < count + 2; i += hn::Lanes(r16)) {
    hn::StoreU(hn::Add(thrice(load(from - 1 + i)), load(next - 1 + i)), r16, sums + i);
  }
  for (std::size_t i = 0; i < count; i += hn::Lanes(r16)) {
    const VR16 here = thrice(hn::LoadU(r16, sums + i + 1));
    const VR16 even = hn::ShiftRight<4>(hn::Add(hn::Add(here, hn::LoadU(r16, sums + i)), hn::Set(r16, 8)));
    const VR16 odd = hn::ShiftRight<4>(hn::Add(hn::Add(here, hn::LoadU(r16, sums + i + 2)), hn::Set(r16, 7)));
    store_doubled(even, odd, to + 2 * i);
  }
}

/// A row between two rows; `bias` is 1 above its sample and 2 below.
HWY_INLINE void double_down(const std::uint8_t* from, const std::uint8_t* next, std::int16_t bias, std::size_t count,
                            std::uint8_t* to) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(r16)) {
    const VR16 sum = hn::Add(thrice(load(from + i)), load(next + i));
    hn::StoreU(hn::DemoteTo(r8, hn::ShiftRight<2>(hn::Add(sum, hn::Set(r16, bias)))), r8, to + i);
  }
}

inline void repeat_four(const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
  for (std::size_t i = 0; i < count; ++i, to += 4) to[0] = to[1] = to[2] = to[3] = from[i];
}

HWY_INLINE void gray_row(const std::uint8_t* luma, std::size_t pixels, std::uint8_t* rgb) {
  for (std::size_t i = 0; i < pixels; i += hn::Lanes(r8)) {
    const auto gray = hn::LoadU(r8, luma + i);
    hn::StoreInterleaved3(gray, gray, gray, r8, rgb + 3 * i);
  }
}

#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
using C8 = hn::CappedTag<std::uint8_t, 32>;
using C16 = hn::Repartition<std::int16_t, C8>;
using VC8 = hn::Vec<C8>;
using VC16 = hn::Vec<C16>;
constexpr C8 c8;
constexpr C16 c16;

/// (a * x + b * y + 32768) >> 16
HWY_INLINE VC16 scaled_sum(VC16 a, std::int16_t x, VC16 b, std::int16_t y) {
  const hn::Repartition<std::int32_t, C16> c32;
  const auto word =
      static_cast<std::int32_t>(static_cast<std::uint16_t>(x) | std::uint32_t{static_cast<std::uint16_t>(y)} << 16);
  const VC16 by = hn::BitCast(c16, hn::Set(c32, word));
  const auto half = hn::Set(c32, 32768);
  auto unused = hn::Zero(c32);
  const auto low = hn::ReorderWidenMulAccumulate(c32, hn::InterleaveLower(c16, a, b), by, half, unused);
  const auto high = hn::ReorderWidenMulAccumulate(c32, hn::InterleaveUpper(c16, a, b), by, half, unused);
  return hn::ReorderDemote2To(c16, hn::ShiftRight<16>(low), hn::ShiftRight<16>(high));
}

struct Colours {
  VC16 red, green, blue;
};

/// With libjpeg's constants: 1.40200, 1.77200 and, with 16 bits, 0.34414 and 0.71414. Of the first two, 14 bits give
/// the same for each of the 256 samples: twice a sample times 2^14 times the constant, over 2^15, rounded.
HWY_INLINE Colours colours(VC16 y, VC16 cb, VC16 cr) {
  const VC16 middle = hn::Set(c16, 128);
  cb = hn::Sub(cb, middle);
  cr = hn::Sub(cr, middle);
  return {hn::Add(y, hn::MulFixedPoint15(hn::Add(cr, cr), hn::Set(c16, 22970))),
          hn::Add(hn::Sub(y, cr), scaled_sum(cb, -22554, cr, 18734)),  // -0.34414, and 1 - 0.71414
          hn::Add(y, hn::MulFixedPoint15(hn::Add(cb, cb), hn::Set(c16, 29033)))};
}

/// Sixteen pixels are 48 bytes, three blocks. A colour has each place in just one of them; so the blocks can be chosen
/// from three vectors, where each colour is at all of its places at once.
struct Interleave {
  alignas(16) std::uint8_t from[3][16];   // the pixel whose colour is at a place
  alignas(16) std::uint8_t every[3][16];  // all ones in places of the same rest by 3
};
constexpr Interleave interleave() {
  Interleave all{};
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned colour = 0; colour < 3; ++colour) {
      const unsigned block = (colour + 18 - i) % 3;  // 16 * block + i has this colour
      all.from[colour][i] = static_cast<std::uint8_t>((16 * block + i) / 3);
    }
    all.every[i % 3][i] = 255;
  }
  return all;
}
constexpr Interleave kInterleave = interleave();

/// Clips to 8 bits; block by block those of a, then those of b.
HWY_INLINE VC8 pack(VC16 a, VC16 b) {
#if HWY_TARGET <= HWY_AVX2
  return VC8{_mm256_packus_epi16(a.raw, b.raw)};
#else
  return VC8{_mm_packus_epi16(a.raw, b.raw)};
#endif
}

HWY_INLINE void put_blocks(VC8 blocks, std::uint8_t* to) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Half<C8> half;
  hn::StoreU(hn::LowerHalf(half, blocks), half, to);
  hn::StoreU(hn::UpperHalf(half, blocks), half, to + 48);
#else
  hn::StoreU(blocks, c8, to);
#endif
}

HWY_INLINE void ycc_row(const std::uint8_t* luma, const std::uint8_t* blue, const std::uint8_t* red, std::size_t pixels,
                        std::uint8_t* rgb) {
  const VC8 zero = hn::Zero(c8);
  const VC8 first = hn::LoadDup128(c8, kInterleave.every[0]);
  const VC8 second = hn::LoadDup128(c8, kInterleave.every[1]);
  const VC8 third = hn::LoadDup128(c8, kInterleave.every[2]);
  const auto lower = [&](VC8 bytes) HWY_ATTR { return hn::BitCast(c16, hn::InterleaveLower(c8, bytes, zero)); };
  const auto upper = [&](VC8 bytes) HWY_ATTR { return hn::BitCast(c16, hn::InterleaveUpper(c8, bytes, zero)); };
  for (std::size_t i = 0; i < pixels; i += hn::Lanes(c8)) {
    const VC8 y = hn::LoadU(c8, luma + i);
    const VC8 cb = hn::LoadU(c8, blue + i);
    const VC8 cr = hn::LoadU(c8, red + i);
    const Colours low = colours(lower(y), lower(cb), lower(cr));
    const Colours high = colours(upper(y), upper(cb), upper(cr));
    const auto places = [&](VC16 a, VC16 b, unsigned colour) HWY_ATTR {
      return hn::TableLookupBytes(pack(a, b), hn::LoadDup128(c8, kInterleave.from[colour]));
    };
    const VC8 r = places(low.red, high.red, 0);
    const VC8 g = places(low.green, high.green, 1);
    const VC8 b = places(low.blue, high.blue, 2);
    put_blocks(hn::IfVecThenElse(second, g, hn::IfVecThenElse(third, b, r)), rgb + 3 * i);
    put_blocks(hn::IfVecThenElse(first, g, hn::IfVecThenElse(second, b, r)), rgb + 3 * i + 16);
    put_blocks(hn::IfVecThenElse(third, g, hn::IfVecThenElse(first, b, r)), rgb + 3 * i + 32);
  }
}
#else
inline std::uint8_t clip(std::int32_t value) {
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}
inline void ycc_row(const std::uint8_t* luma, const std::uint8_t* blue, const std::uint8_t* red, std::size_t pixels,
                    std::uint8_t* rgb) {
  for (std::size_t i = 0; i < pixels; ++i, rgb += 3) {
    const std::int32_t cb = blue[i] - 128;
    const std::int32_t cr = red[i] - 128;
    rgb[0] = clip(luma[i] + ((91881 * cr + 32768) >> 16));
    rgb[1] = clip(luma[i] + ((-22554 * cb - 46802 * cr + 32768) >> 16));
    rgb[2] = clip(luma[i] + ((116130 * cb + 32768) >> 16));
  }
}
#endif

}  // namespace
}  // namespace feedring::seekjpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
