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
HWY_INLINE void store_doubled(VR16 even, VR16 odd, std::uint8_t* to) {
  hn::StoreInterleaved2(hn::DemoteTo(r8, even), hn::DemoteTo(r8, odd), r8, to);
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

/// The same, between a row and the next one above or below.
HWY_INLINE void double_both(const std::uint8_t* from, const std::uint8_t* next, std::size_t count, std::uint8_t* to) {
  const auto sum = [](const std::uint8_t* near, const std::uint8_t* far) {
    return hn::Add(thrice(load(near)), load(far));
  };
  for (std::size_t i = 0; i < count; i += hn::Lanes(r16)) {
    const VR16 here = thrice(sum(from + i, next + i));
    const VR16 even = hn::ShiftRight<4>(hn::Add(hn::Add(here, sum(from + i - 1, next + i - 1)), hn::Set(r16, 8)));
    const VR16 odd = hn::ShiftRight<4>(hn::Add(hn::Add(here, sum(from + i + 1, next + i + 1)), hn::Set(r16, 7)));
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

/// floor(2 * a * by / 65536), and half of that, rounded: a * by / 65536, rounded to the nearest, ties up.
HWY_INLINE VR16 scaled(VR16 a, std::int16_t by) {
  const VR16 twice = hn::MulHigh(hn::Add(a, a), hn::Set(r16, by));
  return hn::ShiftRight<1>(hn::Add(twice, hn::Set(r16, 1)));
}

#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
/// (a * x + b * y + 32768) >> 16
HWY_INLINE VR16 scaled_sum(VR16 a, std::int16_t x, VR16 b, std::int16_t y) {
  const hn::Repartition<std::int32_t, R16> r32;
  const auto word =
      static_cast<std::int32_t>(static_cast<std::uint16_t>(x) | std::uint32_t{static_cast<std::uint16_t>(y)} << 16);
  const VR16 by = hn::BitCast(r16, hn::Set(r32, word));
  const auto half = hn::Set(r32, 32768);
  auto unused = hn::Zero(r32);
  const auto low = hn::ReorderWidenMulAccumulate(r32, hn::InterleaveLower(r16, a, b), by, half, unused);
  const auto high = hn::ReorderWidenMulAccumulate(r32, hn::InterleaveUpper(r16, a, b), by, half, unused);
  return hn::ReorderDemote2To(r16, hn::ShiftRight<16>(low), hn::ShiftRight<16>(high));
}

// libjpeg's constants times 2^16, less the whole numbers that are added apart: 1.40200, 0.34414, 0.71414, 1.77200.
HWY_INLINE void ycc_row(const std::uint8_t* luma, const std::uint8_t* blue, const std::uint8_t* red, std::size_t pixels,
                        std::uint8_t* rgb) {
  const VR16 middle = hn::Set(r16, 128);
  for (std::size_t i = 0; i < pixels; i += hn::Lanes(r16)) {
    const VR16 y = load(luma + i);
    const VR16 cb = hn::Sub(load(blue + i), middle);
    const VR16 cr = hn::Sub(load(red + i), middle);
    const VR16 r = hn::Add(hn::Add(y, cr), scaled(cr, 26345));
    const VR16 b = hn::Add(hn::Add(y, hn::Add(cb, cb)), scaled(cb, -14942));
    const VR16 g = hn::Add(hn::Sub(y, cr), scaled_sum(cb, -22554, cr, 18734));
    hn::StoreInterleaved3(hn::DemoteTo(r8, r), hn::DemoteTo(r8, g), hn::DemoteTo(r8, b), r8, rgb + 3 * i);
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
