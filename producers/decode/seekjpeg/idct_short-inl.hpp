// SPDX-License-Identifier: Apache-2.0
// The inverse DCT of blocks with nothing but their upper left 4 x 4 coefficients: exactly what the long one gives, for
// half of it. Its first pass has only four columns, and each pass only two pairs of rows.
#if defined(FEEDRING_SEEKJPEG_IDCT_SHORT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_SEEKJPEG_IDCT_SHORT_INL
#undef FEEDRING_SEEKJPEG_IDCT_SHORT_INL
#else
#define FEEDRING_SEEKJPEG_IDCT_SHORT_INL
#endif

#include "producers/decode/seekjpeg/idct-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace feedring::seekjpeg::HWY_NAMESPACE {
namespace {

constexpr unsigned kShort = 10;  // coefficients before it, in the order of the file, lie in the upper left 4 x 4

#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR

// What pass() makes of coefficients 0 and 2, and of 1 and 3, where the other four are 0.
constexpr std::int16_t kOnly[8][2] = {{8192, kEven2},          {8192, kEven26},        {8192, -kEven26},
                                      {8192, -kEven2},         {kOdd1 + kSum51, kSum}, {kSum, kOdd3 + kSum73},
                                      {kSum51, kOdd53 + kSum}, {kOdd71 + kSum, kSum73}};

/// The eight results, of 32 bits, for as many columns as there are pairs.
template <int kBits>
HWY_INLINE void short_pass(VB32 pairs02, VB32 pairs13, VB32 (&out)[8]) {
  const VB32 half = hn::Set(b32, 1 << (kBits - 1));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const VB32 even = hn::Add(multiply(hn::BitCast(b16, pairs02), pair(kOnly[i][0], kOnly[i][1])), half);
    const VB32 odd = multiply(hn::BitCast(b16, pairs13), pair(kOnly[4 + i][0], kOnly[4 + i][1]));
    out[i] = hn::ShiftRight<kBits>(hn::Add(even, odd));
    out[7 - i] = hn::ShiftRight<kBits>(hn::Sub(even, odd));
  }
}

HWY_INLINE VB32 even_words(VB16 a, VB16 b) {
#if HWY_TARGET <= HWY_AVX2
  return VB32{_mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a.raw), _mm256_castsi256_ps(b.raw), 0x88))};
#else
  return VB32{_mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a.raw), _mm_castsi128_ps(b.raw), 0x88))};
#endif
}
HWY_INLINE VB32 odd_words(VB16 a, VB16 b) {
#if HWY_TARGET <= HWY_AVX2
  return VB32{_mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a.raw), _mm256_castsi256_ps(b.raw), 0xdd))};
#else
  return VB32{_mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a.raw), _mm_castsi128_ps(b.raw), 0xdd))};
#endif
}

/// transform() for such blocks.
template <std::size_t kRoom>
HWY_NOINLINE bool transform_short(std::int16_t* coefficients, const Waiting* waiting) {
  VB16 row[4];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) row[i] = load_row<kRoom>(coefficients, waiting, i);
  clear_rows<kRoom>(coefficients, 4);
  if (!is_small(row[0])) return false;
  // Columns 0, 2, 1, 3: then each row of the results is a pair of columns 0 and 2, and one of 1 and 3.
  const auto order = [](VB16 pairs) HWY_ATTR {
#if HWY_TARGET <= HWY_AVX2
    return VB32{_mm256_shuffle_epi32(pairs.raw, 0xd8)};
#else
    return VB32{_mm_shuffle_epi32(pairs.raw, 0xd8)};
#endif
  };
  VB32 wide[8];
  short_pass<11>(order(hn::InterleaveLower(b16, row[0], row[2])), order(hn::InterleaveLower(b16, row[1], row[3])),
                 wide);
  VB16 two[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) two[i] = hn::ReorderDemote2To(b16, wide[2 * i], wide[2 * i + 1]);
  VB32 upper[8];
  VB32 lower[8];
  short_pass<18>(even_words(two[0], two[1]), odd_words(two[0], two[1]), upper);
  short_pass<18>(even_words(two[2], two[3]), odd_words(two[2], two[3]), lower);
  VB16 column[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) column[i] = hn::ReorderDemote2To(b16, upper[i], lower[i]);
  put_columns(column, waiting);
  return true;
}

#else

template <std::size_t kRoom>
bool transform_short(std::int16_t* coefficients, const Waiting* waiting) {
  return transform<kRoom>(coefficients, waiting);
}

#endif

}  // namespace
}  // namespace feedring::seekjpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
