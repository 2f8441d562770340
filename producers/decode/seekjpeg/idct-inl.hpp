// SPDX-License-Identifier: Apache-2.0
// The inverse DCT of libjpeg's "islow", bit by bit: Loeffler, Ligtenberg and Moschytz's, with 13 bits of fraction in
// the constants and two more between the passes. Two blocks at once where vectors have room for two.
#if defined(FEEDRING_SEEKJPEG_IDCT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_SEEKJPEG_IDCT_INL
#undef FEEDRING_SEEKJPEG_IDCT_INL
#else
#define FEEDRING_SEEKJPEG_IDCT_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace feedring::seekjpeg::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// A block that waits for its transform.
struct Waiting {
  const std::int16_t* quant;
  std::uint8_t* to;
  std::size_t stride;
  unsigned last;  // coefficient, in the order of the file
};

// Products of the constants, each times 2^13; sums of what libjpeg multiplies with one after the other.
constexpr std::int16_t kEven2 = 10703;   // 0.541196100 + 0.765366865
constexpr std::int16_t kEven26 = 4433;   // 0.541196100
constexpr std::int16_t kEven6 = -10704;  // 0.541196100 - 1.847759065
constexpr std::int16_t kSum = 9633;      // 1.175875602
constexpr std::int16_t kSum73 = -6436;   // 1.175875602 - 1.961570560
constexpr std::int16_t kSum51 = 6437;    // 1.175875602 - 0.390180644
constexpr std::int16_t kOdd7 = -4927;    // 0.298631336 - 0.899976223
constexpr std::int16_t kOdd1 = 4926;     // 1.501321110 - 0.899976223
constexpr std::int16_t kOdd71 = -7373;   // -0.899976223
constexpr std::int16_t kOdd5 = -4176;    // 2.053119869 - 2.562915447
constexpr std::int16_t kOdd3 = 4177;     // 3.072711026 - 2.562915447
constexpr std::int16_t kOdd53 = -20995;  // -2.562915447

#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR

using B16 = hn::CappedTag<std::int16_t, 16>;
using B32 = hn::Repartition<std::int32_t, B16>;
using VB16 = hn::Vec<B16>;
using VB32 = hn::Vec<B32>;
using B8 = hn::Repartition<std::int8_t, B16>;
using VB8 = hn::Vec<B8>;
constexpr B16 b16;
constexpr B32 b32;
constexpr B8 b8;
constexpr int kAtOnce = static_cast<int>(hn::MaxLanes(b16)) / 8;

/// Pairs of 16 bit numbers, those of the lower and those of the upper columns.
struct Pairs {
  VB16 low, high;
  HWY_INLINE Pairs(VB16 a, VB16 b) : low(hn::InterleaveLower(b16, a, b)), high(hn::InterleaveUpper(b16, a, b)) {}
};
struct Wide {
  VB32 low, high;
};
HWY_INLINE VB32 multiply(VB16 pairs, VB32 by) {
  VB32 unused = hn::Zero(b32);
  return hn::ReorderWidenMulAccumulate(b32, pairs, hn::BitCast(b16, by), hn::Zero(b32), unused);
}
HWY_INLINE VB32 pair(std::int16_t x, std::int16_t y) {
  return hn::Set(b32, static_cast<std::int32_t>(static_cast<std::uint16_t>(x) |
                                                std::uint32_t{static_cast<std::uint16_t>(y)} << 16));
}
/// a * x + b * y
HWY_INLINE Wide weigh(const Pairs& pairs, std::int16_t x, std::int16_t y) {
  const VB32 by = pair(x, y);
  return {multiply(pairs.low, by), multiply(pairs.high, by)};
}
HWY_INLINE Wide operator+(const Wide& a, const Wide& b) { return {hn::Add(a.low, b.low), hn::Add(a.high, b.high)}; }
HWY_INLINE Wide operator-(const Wide& a, const Wide& b) { return {hn::Sub(a.low, b.low), hn::Sub(a.high, b.high)}; }
/// Times 2^13.
HWY_INLINE Wide widen(VB16 a) {
  const VB16 zero = hn::Zero(b16);
  return {hn::ShiftRight<3>(hn::BitCast(b32, hn::InterleaveLower(b16, zero, a))),
          hn::ShiftRight<3>(hn::BitCast(b32, hn::InterleaveUpper(b16, zero, a)))};
}
template <int kBits>
HWY_INLINE VB16 narrow(const Wide& a) {
  return hn::ReorderDemote2To(b16, hn::ShiftRight<kBits>(a.low), hn::ShiftRight<kBits>(a.high));
}

/// One pass over the columns of a block, or of two, in place.
template <int kBits>
HWY_INLINE void pass(VB16 (&row)[8]) {
  const Pairs even(row[2], row[6]);
  const Wide even3 = weigh(even, kEven2, kEven26);
  const Wide even2 = weigh(even, kEven26, kEven6);
  const VB32 half = hn::Set(b32, 1 << (kBits - 1));
  const Wide rounding{half, half};
  const Wide even0 = widen(hn::Add(row[0], row[4])) + rounding;
  const Wide even1 = widen(hn::Sub(row[0], row[4])) + rounding;
  const Wide out0 = even0 + even3;
  const Wide out3 = even0 - even3;
  const Wide out1 = even1 + even2;
  const Wide out2 = even1 - even2;

  const Pairs sums(hn::Add(row[7], row[3]), hn::Add(row[5], row[1]));
  const Wide z3 = weigh(sums, kSum73, kSum);
  const Wide z4 = weigh(sums, kSum, kSum51);
  const Pairs outer(row[7], row[1]);
  const Wide odd0 = weigh(outer, kOdd7, kOdd71) + z3;
  const Wide odd3 = weigh(outer, kOdd71, kOdd1) + z4;
  const Pairs inner(row[5], row[3]);
  const Wide odd1 = weigh(inner, kOdd5, kOdd53) + z4;
  const Wide odd2 = weigh(inner, kOdd53, kOdd3) + z3;

  row[0] = narrow<kBits>(out0 + odd3);
  row[7] = narrow<kBits>(out0 - odd3);
  row[1] = narrow<kBits>(out1 + odd2);
  row[6] = narrow<kBits>(out1 - odd2);
  row[2] = narrow<kBits>(out2 + odd1);
  row[5] = narrow<kBits>(out2 - odd1);
  row[3] = narrow<kBits>(out3 + odd0);
  row[4] = narrow<kBits>(out3 - odd0);
}

HWY_INLINE void transpose(VB16 (&row)[8]) {
  VB16 a[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = hn::InterleaveLower(b16, row[i], row[i + 4]);
    a[2 * i + 1] = hn::InterleaveUpper(b16, row[i], row[i + 4]);
  }
  VB16 b[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = hn::InterleaveLower(b16, a[i], a[i + 4]);
    b[2 * i + 1] = hn::InterleaveUpper(b16, a[i], a[i + 4]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    row[2 * i] = hn::InterleaveLower(b16, b[i], b[i + 4]);
    row[2 * i + 1] = hn::InterleaveUpper(b16, b[i], b[i + 4]);
  }
}

HWY_INLINE VB16 load_rows(const std::int16_t* first, const std::int16_t* second) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Half<B16> half;
  return hn::Combine(b16, hn::LoadU(half, second), hn::LoadU(half, first));
#else
  (void)second;
  return hn::LoadU(b16, first);
#endif
}

HWY_INLINE void put_rows(__m128i two, const Waiting& waiting, std::size_t row) {
  std::uint8_t* to = waiting.to + row * waiting.stride;
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), two);
  _mm_storeh_pd(reinterpret_cast<double*>(to + waiting.stride), _mm_castsi128_pd(two));
}

/// Clips to samples; block by block those of a, then those of b.
HWY_INLINE VB8 samples(VB16 a, VB16 b) {
  const auto middle = hn::Set(b8, std::int8_t{-128});
#if HWY_TARGET <= HWY_AVX2
  return hn::Xor(VB8{_mm256_packs_epi16(a.raw, b.raw)}, middle);
#else
  return hn::Xor(VB8{_mm_packs_epi16(a.raw, b.raw)}, middle);
#endif
}

/// Columns to rows of samples, which are half as wide as what they come from.
HWY_INLINE void put_columns(const VB16 (&column)[8], const Waiting* waiting) {
  VB8 a[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) a[i] = samples(column[i], column[i + 4]);
  const VB8 b[4] = {hn::InterleaveLower(b8, a[0], a[2]), hn::InterleaveLower(b8, a[1], a[3]),
                    hn::InterleaveUpper(b8, a[0], a[2]), hn::InterleaveUpper(b8, a[1], a[3])};
  const VB32 c[4] = {
      hn::BitCast(b32, hn::InterleaveLower(b8, b[0], b[1])), hn::BitCast(b32, hn::InterleaveUpper(b8, b[0], b[1])),
      hn::BitCast(b32, hn::InterleaveLower(b8, b[2], b[3])), hn::BitCast(b32, hn::InterleaveUpper(b8, b[2], b[3]))};
  const VB32 rows[4] = {hn::InterleaveLower(b32, c[0], c[2]), hn::InterleaveUpper(b32, c[0], c[2]),
                        hn::InterleaveLower(b32, c[1], c[3]), hn::InterleaveUpper(b32, c[1], c[3])};
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
#if HWY_TARGET <= HWY_AVX2
    const hn::Half<B32> half;
    put_rows(hn::LowerHalf(half, rows[i]).raw, waiting[0], 2 * i);
    put_rows(hn::UpperHalf(half, rows[i]).raw, waiting[1], 2 * i);
#else
    put_rows(rows[i].raw, waiting[0], 2 * i);
#endif
  }
}

/// The rows of a block's coefficients, times quant.
template <std::size_t kRoom>
HWY_INLINE VB16 load_row(const std::int16_t* coefficients, const Waiting* waiting, std::size_t row) {
  const VB16 quant = load_rows(waiting[0].quant + 8 * row, waiting[kAtOnce - 1].quant + 8 * row);
  return hn::Mul(load_rows(coefficients + 8 * row, coefficients + (kAtOnce - 1) * kRoom + 8 * row), quant);
}
template <std::size_t kRoom>
HWY_INLINE void clear_rows(std::int16_t* coefficients, std::size_t rows) {
  for (std::size_t block = 0; block < kAtOnce; ++block) {
    for (std::size_t i = 0; i < 8 * rows; i += hn::Lanes(b16)) {
      hn::StoreU(hn::Zero(b16), b16, coefficients + block * kRoom + i);
    }
  }
}
/// False where libjpeg's short cut for blocks whose lower seven rows are 0 would give something else: it does not clip
/// what the long way does.
HWY_INLINE bool is_small(VB16 first_row) {
  return hn::AllTrue(b16, hn::Eq(hn::ShiftRight<2>(hn::ShiftLeft<2>(first_row)), first_row));
}

/// kAtOnce blocks of `coefficients`, kRoom apart, which become 0. False: not for us, see is_small.
template <std::size_t kRoom>
HWY_NOINLINE bool transform(std::int16_t* coefficients, const Waiting* waiting) {
  VB16 row[8];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i) row[i] = load_row<kRoom>(coefficients, waiting, i);
  clear_rows<kRoom>(coefficients, 8);
  if (!is_small(row[0])) return false;
  pass<11>(row);
  transpose(row);
  pass<18>(row);
  put_columns(row, waiting);
  return true;
}

#else

constexpr int kAtOnce = 1;

/// The same with one column at a time.
template <int kBits>
void pass(std::int64_t* at, std::ptrdiff_t step) {
  const auto in = [&](int i) { return at[i * step]; };
  const std::int64_t even3 = in(2) * kEven2 + in(6) * kEven26;
  const std::int64_t even2 = in(2) * kEven26 + in(6) * kEven6;
  const std::int64_t even0 = (in(0) + in(4)) * 8192 + (1 << (kBits - 1));
  const std::int64_t even1 = (in(0) - in(4)) * 8192 + (1 << (kBits - 1));
  const std::int64_t s73 = in(7) + in(3);
  const std::int64_t s51 = in(5) + in(1);
  const std::int64_t z3 = s73 * kSum73 + s51 * kSum;
  const std::int64_t z4 = s73 * kSum + s51 * kSum51;
  const std::int64_t odd0 = in(7) * kOdd7 + in(1) * kOdd71 + z3;
  const std::int64_t odd3 = in(7) * kOdd71 + in(1) * kOdd1 + z4;
  const std::int64_t odd1 = in(5) * kOdd5 + in(3) * kOdd53 + z4;
  const std::int64_t odd2 = in(5) * kOdd53 + in(3) * kOdd3 + z3;
  const std::int64_t sums[8] = {even0 + even3 + odd3, even1 + even2 + odd2, even1 - even2 + odd1, even0 - even3 + odd0,
                                even0 - even3 - odd0, even1 - even2 - odd1, even1 + even2 - odd2, even0 + even3 - odd3};
  for (int i = 0; i < 8; ++i) at[i * step] = sums[i] >> kBits;
}

template <std::size_t kRoom>
bool transform(std::int16_t* coefficients, const Waiting* waiting) {
  std::int64_t block[64];
  for (int i = 0; i < 64; ++i) {
    block[i] = coefficients[i] * waiting->quant[i];
    coefficients[i] = 0;
    if (block[i] < -8192 || block[i] >= 8192) return false;  // no picture; here nothing wraps
  }
  for (int i = 0; i < 8; ++i) pass<11>(block + i, 8);
  // Beyond these bounds libjpeg's loops in C, and those for one processor and another, differ: it is left to them.
  for (const std::int64_t half_way : block) {
    if (half_way < -32768 || half_way > 32767) return false;
  }
  for (int i = 0; i < 8; ++i) pass<18>(block + 8 * i, 1);
  for (int i = 0; i < 64; ++i) {
    if (block[i] < -512 || block[i] > 511) return false;
    const std::int64_t sample = block[i] + 128;
    waiting->to[static_cast<std::size_t>(i / 8) * waiting->stride + static_cast<std::size_t>(i % 8)] =
        static_cast<std::uint8_t>(sample < 0     ? 0
                                  : sample > 255 ? 255
                                                 : sample);
  }
  return true;
}

#endif

}  // namespace
}  // namespace feedring::seekjpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
