// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/resample_kernels.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/transform/resample_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR

// ---- Pixels. A 128 bit block is a row of its own in `across`, so that the byte shuffle, which does not cross blocks,
// serves as many rows at once as the vector has blocks.

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::int16_t, D8>;
using D32 = hn::Repartition<std::int32_t, D8>;
using D8Block = hn::Full128<std::uint8_t>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
constexpr D8 d8;
constexpr D16 d16;
constexpr D32 d32;
constexpr D8Block d8_block;
constexpr int kBlocks = static_cast<int>(hn::MaxLanes(d8)) / 16;

// Lane by lane a.first * b.first + a.second * b.second (pmaddwd).
HWY_INLINE V32 multiply_pairs(V8 pixels, V32 words) {
  V32 unused = hn::Zero(d32);
  return hn::ReorderWidenMulAccumulate(d32, hn::BitCast(d16, pixels), hn::BitCast(d16, words), hn::Zero(d32), unused);
}

// Both halves of one weighted sum in each lane.
struct Sum {
  V32 high;
  V32 low;
  HWY_INLINE void start(V8 pixels, V32 weight_high, V32 weight_low) {
    high = multiply_pairs(pixels, weight_high);
    low = hn::Add(multiply_pairs(pixels, weight_low), hn::Set(d32, kHalf));
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

// As many rows as a vector has blocks, by value, so that the pointers stay in registers.
struct Rows {
  const std::uint8_t* first;
  const std::uint8_t* second;
  const std::uint8_t* third;
  const std::uint8_t* fourth;

  HWY_INLINE explicit Rows(const std::uint8_t* const* rows)
      : first(rows[0]),
        second(rows[kBlocks > 1 ? 1 : 0]),
        third(rows[kBlocks > 2 ? 2 : 0]),
        fourth(rows[kBlocks > 2 ? 3 : 0]) {}

  /// One block of each row.
  [[nodiscard]] HWY_INLINE V8 load(std::size_t offset) const {
#if HWY_TARGET <= HWY_AVX3
    const hn::Half<D8> half;
    return hn::Combine(d8, hn::Combine(half, block(fourth + offset), block(third + offset)),
                       hn::Combine(half, block(second + offset), block(first + offset)));
#elif HWY_TARGET == HWY_AVX2
    return hn::Combine(d8, block(second + offset), block(first + offset));
#else
    return block(first + offset);
#endif
  }

 private:
  [[nodiscard]] static HWY_INLINE hn::Vec<D8Block> block(const std::uint8_t* at) { return hn::LoadU(d8_block, at); }
};

template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> blocks, std::uint8_t* const* out, std::size_t offset) {
  if constexpr (hn::MaxLanes(D()) == 16) {
    hn::StoreU(blocks, d, out[0] + offset);
  } else {
    const hn::Half<D> half;
    constexpr std::size_t kHalfBlocks = hn::MaxLanes(D()) / 32;
    store_blocks(half, hn::LowerHalf(half, blocks), out, offset);
    store_blocks(half, hn::UpperHalf(half, blocks), out + kHalfBlocks, offset);
  }
}

constexpr std::uint8_t kNo = 0x80;  // the byte shuffle puts 0
// Pixels n and n + 1 of a block as pairs of 16 bit: red, green, blue, nothing.
#define FEEDRING_PAIR(n)                                                                                              \
  {                                                                                                                   \
    3 * (n), kNo, 3 * (n) + 3, kNo, 3 * (n) + 1, kNo, 3 * (n) + 4, kNo, 3 * (n) + 2, kNo, 3 * (n) + 5, kNo, kNo, kNo, \
        kNo, kNo                                                                                                      \
  }
alignas(16) constexpr std::uint8_t kPairAt0[16] = FEEDRING_PAIR(0);
alignas(16) constexpr std::uint8_t kPairAt2[16] = FEEDRING_PAIR(2);
#undef FEEDRING_PAIR
// The fifth pixel of a block beside nothing.
alignas(16) constexpr std::uint8_t kSingleAt4[16] = {12, kNo, kNo, kNo, 13,  kNo, kNo, kNo,
                                                     14, kNo, kNo, kNo, kNo, kNo, kNo, kNo};
alignas(16) constexpr std::uint8_t kDropFourth[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, kNo, kNo, kNo, kNo};

struct Shuffles {
  V8 pair0, pair2, single4, drop_fourth;

  HWY_INLINE Shuffles()
      : pair0(hn::LoadDup128(d8, kPairAt0)),
        pair2(hn::LoadDup128(d8, kPairAt2)),
        single4(hn::LoadDup128(d8, kSingleAt4)),
        drop_fourth(hn::LoadDup128(d8, kDropFourth)) {}
};

HWY_INLINE V32 weight(const std::int32_t* words, std::size_t stride, std::size_t row) {
  return hn::Set(d32, words[row * stride]);
}

// One output of each row. kTaps: 2, 4, 5 (one load), 8, or 0 for any number. The words are those of the output.
template <int kTaps>
HWY_INLINE V32 across_pixel(const Shuffles& shuffles, const Rows& rows, std::int32_t start, const std::int32_t* words,
                            std::size_t stride, std::int32_t pairs) {
  std::size_t offset = 3 * static_cast<std::size_t>(start);
  V8 block = rows.load(offset);
  Sum sum;
  sum.start(hn::TableLookupBytes(block, shuffles.pair0), weight(words, stride, 0), weight(words, stride, 1));
  if constexpr (kTaps >= 4) {
    sum.add(hn::TableLookupBytes(block, shuffles.pair2), weight(words, stride, 2), weight(words, stride, 3));
  }
  if constexpr (kTaps == 5) {
    sum.add(hn::TableLookupBytes(block, shuffles.single4), weight(words, stride, 4), weight(words, stride, 5));
  }
  if constexpr (kTaps == 8) {
    block = rows.load(offset + 12);
    sum.add(hn::TableLookupBytes(block, shuffles.pair0), weight(words, stride, 4), weight(words, stride, 5));
    sum.add(hn::TableLookupBytes(block, shuffles.pair2), weight(words, stride, 6), weight(words, stride, 7));
  }
  if constexpr (kTaps == 0) {
    for (std::int32_t p = 1; p < pairs; ++p) {
      words += 2 * stride;
      const V8 which = p % 2 == 0 ? shuffles.pair0 : shuffles.pair2;
      if (p % 2 == 0) {
        offset += 12;
        block = rows.load(offset);
      }
      sum.add(hn::TableLookupBytes(block, which), weight(words, stride, 0), weight(words, stride, 1));
    }
  }
  return sum.rounded();
}

template <int kTaps>
HWY_INLINE void across_rows(const Rows& rows, std::uint8_t* const* out, const std::int32_t* starts,
                            const std::int32_t* words, std::size_t stride, std::int32_t pairs, std::int32_t count) {
  const Shuffles shuffles;
  for (std::size_t x = 0; x < static_cast<std::size_t>(count); x += 4) {
    const V32 a = across_pixel<kTaps>(shuffles, rows, starts[x], words + x, stride, pairs);
    const V32 b = across_pixel<kTaps>(shuffles, rows, starts[x + 1], words + x + 1, stride, pairs);
    const V32 c = across_pixel<kTaps>(shuffles, rows, starts[x + 2], words + x + 2, stride, pairs);
    const V32 d = across_pixel<kTaps>(shuffles, rows, starts[x + 3], words + x + 3, stride, pairs);
    store_blocks(d8, hn::TableLookupBytes(pack(a, b, c, d), shuffles.drop_fourth), out, 3 * x);
  }
}

template <int kTaps>
void across_all_rows(const std::uint8_t* const* rows, std::uint8_t* const* out, const std::int32_t* starts,
                     const std::int32_t* words, std::size_t stride, std::int32_t pairs, std::int32_t count) {
  for (std::int32_t r = 0; r < kRowsAtOnce; r += kBlocks) {
    across_rows<kTaps>(Rows(rows + r), out + r, starts, words, stride, pairs, count);
  }
}

void Across(const std::uint8_t* const (&rows)[kRowsAtOnce], std::uint8_t* const (&out)[kRowsAtOnce],
            const std::int32_t* starts, const std::int32_t* words, std::size_t stride, std::int32_t widest,
            std::int32_t count) {
  const std::int32_t pairs = (widest + 1) / 2;
  if (widest <= 2) return across_all_rows<2>(rows, out, starts, words, stride, pairs, count);
  if (widest <= 4) return across_all_rows<4>(rows, out, starts, words, stride, pairs, count);
  if (widest == 5) return across_all_rows<5>(rows, out, starts, words, stride, pairs, count);
  if (pairs == 4) return across_all_rows<8>(rows, out, starts, words, stride, pairs, count);
  across_all_rows<0>(rows, out, starts, words, stride, pairs, count);
}

// The sums of one vector of columns, as four vectors of 32 bit: within each block its first to fourth quarter.
struct ColumnSums {
  Sum first, second, third, fourth;

  // kStart: this pair is the first.
  template <bool kStart>
  HWY_INLINE void add(V8 upper, V8 lower, V32 high, V32 low) {
    const V8 zero = hn::Zero(d8);
    const V8 left = hn::InterleaveLower(d8, upper, lower);
    const V8 right = hn::InterleaveUpper(d8, upper, lower);
    add<kStart>(first, hn::InterleaveLower(d8, left, zero), high, low);
    add<kStart>(second, hn::InterleaveUpper(d8, left, zero), high, low);
    add<kStart>(third, hn::InterleaveLower(d8, right, zero), high, low);
    add<kStart>(fourth, hn::InterleaveUpper(d8, right, zero), high, low);
  }
  [[nodiscard]] HWY_INLINE V8 rounded() const {
    return pack(first.rounded(), second.rounded(), third.rounded(), fourth.rounded());
  }

 private:
  template <bool kStart>
  static HWY_INLINE void add(Sum& sum, V8 pixels, V32 high, V32 low) {
    if constexpr (kStart) {
      sum.start(pixels, high, low);
    } else {
      sum.add(pixels, high, low);
    }
  }
};

// kPairs: 1, 2, 3, or 0 for any number.
template <int kPairs>
HWY_INLINE V8 columns(const std::uint8_t* const* rows, std::size_t i, const std::int32_t* words, std::size_t stride,
                      std::int32_t pairs) {
  const auto row = [&](std::size_t r) HWY_ATTR { return hn::LoadU(d8, rows[r] + i); };
  ColumnSums sums;
  sums.add<true>(row(0), row(1), weight(words, stride, 0), weight(words, stride, 1));
  if constexpr (kPairs >= 2) sums.add<false>(row(2), row(3), weight(words, stride, 2), weight(words, stride, 3));
  if constexpr (kPairs >= 3) sums.add<false>(row(4), row(5), weight(words, stride, 4), weight(words, stride, 5));
  if constexpr (kPairs == 0) {
    for (std::size_t p = 1; p < static_cast<std::size_t>(pairs); ++p) {
      sums.add<false>(row(2 * p), row(2 * p + 1), weight(words, stride, 2 * p), weight(words, stride, 2 * p + 1));
    }
  }
  return sums.rounded();
}

template <int kPairs>
void down_row(const std::uint8_t* const* rows, const std::int32_t* words, std::size_t stride, std::int32_t pairs,
              std::uint8_t* out, std::size_t bytes) {
  constexpr std::size_t kLanes = hn::MaxLanes(d8);
  std::size_t i = 0;
  for (; i + kLanes <= bytes; i += kLanes) hn::StoreU(columns<kPairs>(rows, i, words, stride, pairs), d8, out + i);
  if (i == bytes) return;
  if (bytes >= kLanes) {  // the last whole vector again, rather than bytes behind the row
    i = bytes - kLanes;
    hn::StoreU(columns<kPairs>(rows, i, words, stride, pairs), d8, out + i);
  } else {
    HWY_ALIGN std::uint8_t last[kLanes];
    hn::Store(columns<kPairs>(rows, 0, words, stride, pairs), d8, last);
    std::memcpy(out, last, bytes);
  }
}

void Down(const std::uint8_t* const* rows, const std::int32_t* words, std::size_t stride, std::int32_t pairs,
          std::uint8_t* out, std::size_t bytes) {
  if (pairs == 1) return down_row<1>(rows, words, stride, pairs, out, bytes);
  if (pairs == 2) return down_row<2>(rows, words, stride, pairs, out, bytes);
  if (pairs == 3) return down_row<3>(rows, words, stride, pairs, out, bytes);
  down_row<0>(rows, words, stride, pairs, out, bytes);
}

void Reverse(const std::uint8_t* pixels, std::uint8_t* out, std::int32_t count) {
  alignas(16) static constexpr std::uint8_t kFive[16] = {12, 13, 14, 9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2, kNo};
  const auto five = hn::Load(d8_block, kFive);
  std::int32_t left = count;  // six at least: the sixteenth byte that a store touches is then the next pixel's
  for (; left > 5; left -= 5, out += 15) {
    const auto block = hn::LoadU(d8_block, pixels + static_cast<std::ptrdiff_t>(left - 5) * 3);
    hn::StoreU(hn::TableLookupBytes(block, five), d8_block, out);
  }
  for (; left > 0; --left, out += 3) std::memcpy(out, pixels + static_cast<std::ptrdiff_t>(left - 1) * 3, 3);
}

#else

// ---- Pixels without byte shuffles and 16 bit multiply-add: the plain loops that the vector code stands for.

std::int32_t weight_at(const std::int32_t* words, std::size_t stride, std::int32_t tap) {
  const std::int32_t* pair = words + static_cast<std::size_t>(tap / 2 * 2) * stride;
  const auto half = [&](std::int32_t word) { return static_cast<std::int16_t>(tap % 2 == 0 ? word : word >> 16); };
  return half(pair[0]) * (1 << kSplitBits) + half(pair[stride]);
}

std::uint8_t clip(std::int32_t sum) {
  sum >>= kWeightBits;
  return static_cast<std::uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

void Across(const std::uint8_t* const (&rows)[kRowsAtOnce], std::uint8_t* const (&out)[kRowsAtOnce],
            const std::int32_t* starts, const std::int32_t* words, std::size_t stride, std::int32_t widest,
            std::int32_t count) {
  for (std::int32_t x = 0; x < count; ++x) {
    std::int32_t sums[kRowsAtOnce][3];
    for (auto& row : sums) row[0] = row[1] = row[2] = kHalf;
    for (std::int32_t t = 0; t < widest; ++t) {
      const std::int32_t weight = weight_at(words + x, stride, t);
      for (std::int32_t r = 0; r < kRowsAtOnce; ++r) {
        const std::uint8_t* pixel = rows[r] + 3 * static_cast<std::ptrdiff_t>(starts[x] + t);
        for (int c = 0; c < 3; ++c) sums[r][c] += pixel[c] * weight;
      }
    }
    for (std::int32_t r = 0; r < kRowsAtOnce; ++r) {
      for (int c = 0; c < 3; ++c) out[r][3 * static_cast<std::ptrdiff_t>(x) + c] = clip(sums[r][c]);
    }
  }
}

void Down(const std::uint8_t* const* rows, const std::int32_t* words, std::size_t stride, std::int32_t pairs,
          std::uint8_t* out, std::size_t bytes) {
  constexpr std::size_t kColumns = 64;  // a length that the compiler knows, so that it can vectorise
  for (std::size_t i = 0; i < bytes; i += kColumns) {
    std::int32_t sums[kColumns];
    for (std::int32_t& sum : sums) sum = kHalf;
    for (std::int32_t t = 0; t < 2 * pairs; ++t) {
      const std::int32_t weight = weight_at(words, stride, t);
      const std::uint8_t* row = rows[t] + i;
      for (std::size_t c = 0; c < kColumns; ++c) sums[c] += row[c] * weight;
    }
    for (std::size_t c = 0; c < std::min(kColumns, bytes - i); ++c) out[i + c] = clip(sums[c]);
  }
}

void Reverse(const std::uint8_t* pixels, std::uint8_t* out, std::int32_t count) {
  for (std::int32_t left = count; left > 0; --left, out += 3) {
    std::memcpy(out, pixels + static_cast<std::ptrdiff_t>(left - 1) * 3, 3);
  }
}

#endif

const char* InstructionSet() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::kernels {

HWY_EXPORT(Across);
HWY_EXPORT(Down);
HWY_EXPORT(Reverse);
HWY_EXPORT(InstructionSet);

void across(const std::uint8_t* const (&rows)[kRowsAtOnce], std::uint8_t* const (&out)[kRowsAtOnce],
            const std::int32_t* starts, const std::int32_t* words, std::size_t stride, std::int32_t widest,
            std::int32_t count) {
  HWY_DYNAMIC_DISPATCH(Across)(rows, out, starts, words, stride, widest, count);
}

void down(const std::uint8_t* const* rows, const std::int32_t* words, std::size_t stride, std::int32_t pairs,
          std::uint8_t* out, std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(Down)(rows, words, stride, pairs, out, bytes);
}

void reverse(const std::uint8_t* pixels, std::uint8_t* out, std::int32_t count) {
  HWY_DYNAMIC_DISPATCH(Reverse)(pixels, out, count);
}

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(InstructionSet)(); }

}  // namespace feedring::kernels
#endif  // HWY_ONCE
