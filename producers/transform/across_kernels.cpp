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

#include "producers/transform/thirds-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

#if FEEDRING_PIXEL_VECTORS

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
alignas(16) constexpr BlockShuffle kDropFourth = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, kNo, kNo, kNo, kNo};

struct Shuffles {
  V8 pair0, pair2, drop_fourth;

  HWY_INLINE Shuffles()
      : pair0(hn::LoadDup128(d8, kPairAt0.data())),
        pair2(hn::LoadDup128(d8, kPairAt2.data())),
        drop_fourth(hn::LoadDup128(d8, kDropFourth.data())) {}
};

// Outputs that lie farther apart: each by itself.
HWY_INLINE V32 across_pixel(const Shuffles& shuffles, const Rows& rows, std::int32_t start, const std::int32_t* words,
                            std::size_t stride, std::size_t pairs) {
  std::size_t offset = 3 * static_cast<std::size_t>(start);
  Sum sum;
  sum.start();
  for (std::size_t p = 0; p + 1 < pairs; p += 2, offset += 12, words += 4 * stride) {
    const V8 block = rows.load(offset);
    sum.add(hn::TableLookupBytes(block, shuffles.pair0), weight(words, stride, 0), weight(words, stride, 1));
    sum.add(hn::TableLookupBytes(block, shuffles.pair2), weight(words, stride, 2), weight(words, stride, 3));
  }
  if (pairs % 2 != 0) {
    sum.add(hn::TableLookupBytes(rows.load(offset), shuffles.pair0), weight(words, stride, 0),
            weight(words, stride, 1));
  }
  return sum.rounded();
}

void across_far(const std::uint8_t* const* from, std::uint8_t* const* out, const AcrossWeights& weights) {
  const Shuffles shuffles;
  const std::size_t pairs = static_cast<std::size_t>(weights.widest + 1) / 2;
  for (int r = 0; r < kRowVectors; ++r, from += kBlocks, out += kBlocks) {
    const Rows rows(from);
    const auto pixel = [&](std::size_t x) HWY_ATTR {
      return across_pixel(shuffles, rows, weights.starts[x], weights.words + x, weights.stride, pairs);
    };
    for (std::size_t x = 0; x < static_cast<std::size_t>(weights.count); x += kGroup) {
      const V8 bytes = pack(pixel(x), pixel(x + 1), pixel(x + 2), pixel(x + 3));
      store_blocks(d8, hn::TableLookupBytes(bytes, shuffles.drop_fourth), out, 3 * x);
    }
  }
}

void Across(const std::uint8_t* const (&rows)[kRowsAtOnce], std::uint8_t* const (&out)[kRowsAtOnce],
            const AcrossWeights& weights) {
  const auto with = [&](auto* run) {
    for (int r = 0; r < kRowsAtOnce; r += kRowVectors * kBlocks) run(rows + r, out + r, weights);
  };
  if (weights.farthest > kFarthest) return with(across_far);
  const int pairs = (weights.widest + 1) / 2;
  if (weights.farthest > kFarthest - 2) {
    switch (pairs) {
      case 3: return with(across_groups<3, 1>);
      case 4: return with(across_groups<4, 1>);
      case 5: return with(across_groups<5, 1>);
      default: return with(across_groups<0, 1>);
    }
  }
  switch (pairs) {
    case 1: return with(across_groups<1, 2>);
    case 2: return with(across_groups<2, 2>);
    case 3: return with(across_groups<3, 2>);
    case 4: return with(across_groups<4, 2>);
    case 5: return with(across_groups<5, 2>);
    default: return with(across_groups<0, 2>);
  }
}

std::int32_t SpreadWeights(const AcrossWeights& weights, Third* thirds, std::int32_t* words) {
  return spread_thirds(weights, thirds, words);
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
            const AcrossWeights& weights) {
  for (std::int32_t x = 0; x < weights.count; ++x) {
    std::int32_t sums[kRowsAtOnce][3];
    for (auto& row : sums) row[0] = row[1] = row[2] = kHalf;
    for (std::int32_t t = 0; t < weights.widest; ++t) {
      const std::int32_t weight = weight_at(weights.words + x, weights.stride, t);
      for (std::int32_t r = 0; r < kRowsAtOnce; ++r) {
        const std::uint8_t* pixel = rows[r] + 3 * static_cast<std::ptrdiff_t>(weights.starts[x] + t);
        for (int c = 0; c < 3; ++c) sums[r][c] += pixel[c] * weight;
      }
    }
    for (std::int32_t r = 0; r < kRowsAtOnce; ++r) {
      for (int c = 0; c < 3; ++c) out[r][3 * static_cast<std::ptrdiff_t>(x) + c] = clip(sums[r][c]);
    }
  }
}

std::int32_t SpreadWeights(const AcrossWeights&, Third*, std::int32_t*) { return 0; }

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
HWY_EXPORT(SpreadWeights);
HWY_EXPORT(Reverse);

void across(const std::uint8_t* const (&rows)[kRowsAtOnce], std::uint8_t* const (&out)[kRowsAtOnce],
            const AcrossWeights& weights) {
  HWY_DYNAMIC_DISPATCH(Across)(rows, out, weights);
}

std::int32_t spread(const AcrossWeights& weights, Third* thirds, std::int32_t* words) {
  return HWY_DYNAMIC_DISPATCH(SpreadWeights)(weights, thirds, words);
}

void reverse(const std::uint8_t* pixels, std::uint8_t* out, std::int32_t count) {
  HWY_DYNAMIC_DISPATCH(Reverse)(pixels, out, count);
}

}  // namespace feedring::kernels
#endif  // HWY_ONCE
