// SPDX-License-Identifier: Apache-2.0
// Rows: the horizontal pass, and the reversal of a row. A block of 128 bits is a row of its own, so that the byte
// shuffle, which does not cross blocks, serves as many rows at once as the vector has blocks.
#include "producers/transform/resample_kernels.hpp"

#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/transform/across_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

#include "producers/transform/pixels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

#if FEEDRING_PIXEL_VECTORS

using D8Block = hn::Full128<std::uint8_t>;
constexpr D8Block d8_block;
constexpr int kBlocks = static_cast<int>(hn::MaxLanes(d8)) / 16;

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
using BlockShuffle = std::array<std::uint8_t, 16>;
// Pixels n and n + 1 of a block as pairs of 16 bit: red, green, blue, nothing.
constexpr BlockShuffle pair_at(std::uint8_t n) {
  BlockShuffle shuffle{};
  for (std::uint8_t& byte : shuffle) byte = kNo;
  for (std::uint8_t c = 0; c < 3; ++c) {
    shuffle[4U * c] = static_cast<std::uint8_t>(3 * n + c);
    shuffle[4U * c + 2] = static_cast<std::uint8_t>(3 * n + 3 + c);
  }
  return shuffle;
}
alignas(16) constexpr BlockShuffle kPairAt0 = pair_at(0);
alignas(16) constexpr BlockShuffle kPairAt2 = pair_at(2);
// The fifth pixel of a block beside nothing.
alignas(16) constexpr BlockShuffle kSingleAt4 = {12, kNo, kNo, kNo, 13,  kNo, kNo, kNo,
                                                 14, kNo, kNo, kNo, kNo, kNo, kNo, kNo};
alignas(16) constexpr BlockShuffle kDropFourth = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, kNo, kNo, kNo, kNo};

struct Shuffles {
  V8 pair0, pair2, single4, drop_fourth;

  HWY_INLINE Shuffles()
      : pair0(hn::LoadDup128(d8, kPairAt0.data())),
        pair2(hn::LoadDup128(d8, kPairAt2.data())),
        single4(hn::LoadDup128(d8, kSingleAt4.data())),
        drop_fourth(hn::LoadDup128(d8, kDropFourth.data())) {}
};

// Adds what a block of each row, four taps or five, gives to one output. The words are those of the block's first tap.
template <int kTaps>
HWY_INLINE void add_block(const Shuffles& shuffles, V8 block, const std::int32_t* words, std::size_t stride, Sum& sum) {
  sum.add(hn::TableLookupBytes(block, shuffles.pair0), weight(words, stride, 0), weight(words, stride, 1));
  if constexpr (kTaps > 2) {
    sum.add(hn::TableLookupBytes(block, shuffles.pair2), weight(words, stride, 2), weight(words, stride, 3));
  }
  if constexpr (kTaps == 5) {
    sum.add(hn::TableLookupBytes(block, shuffles.single4), weight(words, stride, 4), weight(words, stride, 5));
  }
}

// One output of each row, of taps in pairs, or of one more than whole blocks of four. kTaps 0: of any number of pairs.
// The words are those of the output.
template <int kTaps>
HWY_INLINE V32 across_pixel(const Shuffles& shuffles, const Rows& rows, std::int32_t start, const std::int32_t* words,
                            std::size_t stride, std::int32_t pairs) {
  const std::size_t offset = 3 * static_cast<std::size_t>(start);
  Sum sum;
  sum.start();
  if constexpr (kTaps == 0) {
    const auto whole = static_cast<std::size_t>(pairs / 2);
    for (std::size_t b = 0; b < whole; ++b, words += 4 * stride)
      add_block<4>(shuffles, rows.load(offset + 12 * b), words, stride, sum);
    if (pairs % 2 != 0) add_block<2>(shuffles, rows.load(offset + 12 * whole), words, stride, sum);
  } else {
    constexpr int kLast = kTaps % 4 == 1 ? kTaps - 5 : (kTaps - 1) / 4 * 4;  // where the last block begins
#pragma GCC unroll 4
    for (int t = 0; t < kLast; t += 4, words += 4 * stride)
      add_block<4>(shuffles, rows.load(offset + 3 * static_cast<std::size_t>(t)), words, stride, sum);
    add_block<kTaps - kLast>(shuffles, rows.load(offset + std::size_t{3} * kLast), words, stride, sum);
  }
  return sum.rounded();
}

template <int kTaps>
HWY_INLINE void across_rows(const Rows& rows, std::uint8_t* const* out, const std::int32_t* starts,
                            const std::int32_t* words, std::size_t stride, std::int32_t pairs, std::int32_t count) {
  const Shuffles shuffles;
  for (std::size_t x = 0; x < static_cast<std::size_t>(count); x += kGroup) {
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
  const auto with = [&](auto* run) { run(rows, out, starts, words, stride, (widest + 1) / 2, count); };
  switch (widest) {
    case 1:
    case 2: return with(across_all_rows<2>);
    case 3:
    case 4: return with(across_all_rows<4>);
    case 5: return with(across_all_rows<5>);
    case 6: return with(across_all_rows<6>);
    case 7:
    case 8: return with(across_all_rows<8>);
    case 9: return with(across_all_rows<9>);
    case 10: return with(across_all_rows<10>);
    case 11:
    case 12: return with(across_all_rows<12>);
    case 13: return with(across_all_rows<13>);
    default: return with(across_all_rows<0>);
  }
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

void Reverse(const std::uint8_t* pixels, std::uint8_t* out, std::int32_t count) {
  for (std::int32_t left = count; left > 0; --left, out += 3) {
    std::memcpy(out, pixels + static_cast<std::ptrdiff_t>(left - 1) * 3, 3);
  }
}

#endif

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::kernels {

HWY_EXPORT(Across);
HWY_EXPORT(Reverse);

void across(const std::uint8_t* const (&rows)[kRowsAtOnce], std::uint8_t* const (&out)[kRowsAtOnce],
            const std::int32_t* starts, const std::int32_t* words, std::size_t stride, std::int32_t widest,
            std::int32_t count) {
  HWY_DYNAMIC_DISPATCH(Across)(rows, out, starts, words, stride, widest, count);
}

void reverse(const std::uint8_t* pixels, std::uint8_t* out, std::int32_t count) {
  HWY_DYNAMIC_DISPATCH(Reverse)(pixels, out, count);
}

}  // namespace feedring::kernels
#endif  // HWY_ONCE
