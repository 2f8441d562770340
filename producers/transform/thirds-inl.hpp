// SPDX-License-Identifier: Apache-2.0
// The horizontal pass by thirds of four outputs. Their twelve values are three whole blocks of 32 bits each, so that
// none of a multiplication goes to a fourth channel that is not there. Compiled once for each instruction set.
#if defined(FEEDRING_THIRDS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_THIRDS_INL
#undef FEEDRING_THIRDS_INL
#else
#define FEEDRING_THIRDS_INL
#endif

#include <algorithm>
#include <array>

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
// A third's first value is this channel; its block begins there, unless the next output has its taps at the same
// pixels.
constexpr unsigned first_channel(unsigned third, unsigned distance) { return distance == 0 ? 0 : third; }

// Where the channels of two outputs, `distance` pixels apart, have their taps `tap` and the next, from a third's
// offset.
constexpr BlockShuffle third_at(unsigned third, unsigned distance, unsigned tap) {
  BlockShuffle shuffle{};
  for (unsigned value = 0; value < 4; ++value) {
    const unsigned channel = (third + value) % 3;
    const unsigned output = (third + value) / 3;
    const unsigned at = 3 * (output * distance + tap) + channel - first_channel(third, distance);
    shuffle[4 * value] = static_cast<std::uint8_t>(at);
    shuffle[4 * value + 1] = shuffle[4 * value + 3] = kNo;
    shuffle[4 * value + 2] = static_cast<std::uint8_t>(at + 3);
  }
  return shuffle;
}
// With a block of 16 bytes for each pair of taps outputs may be so far apart; with one for two pairs, two pixels less.
constexpr std::int32_t kFarthest = 4;
using ThirdShuffles = std::array<std::array<BlockShuffle, kFarthest + 1>, kThirds>;
constexpr ThirdShuffles thirds_at(unsigned tap) {
  ThirdShuffles all{};
  for (unsigned third = 0; third < 3; ++third) {
    for (unsigned distance = 0; distance < all[third].size(); ++distance) {
      all[third][distance] = third_at(third, distance, tap);
    }
  }
  return all;
}
alignas(16) constexpr ThirdShuffles kFirstPair = thirds_at(0);
alignas(16) constexpr ThirdShuffles kSecondPair = thirds_at(2);
alignas(16) constexpr BlockShuffle kFour = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, kNo, kNo, kNo, kNo};
alignas(16) constexpr BlockShuffle kReverseFour = {9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2, kNo, kNo, kNo, kNo};

// Vectors of rows that share what is loaded for an output. More would not leave enough registers.
constexpr int kRowVectors = kRowsAtOnce / kBlocks < 2 ? 1 : 2;
struct Sums {
  Sum of[kRowVectors];
};

// The compiler would add later, in another order, and put what waits for it onto the stack.
HWY_INLINE void add_now(Sum& sum) { asm("" : "+x"(sum.high.raw), "+x"(sum.low.raw)); }

// A third of a group in all rows. kPairs 0: any number of pairs of taps. kPairsAtOnce: those of a block.
template <int kPairs, int kPairsAtOnce>
HWY_INLINE Sums across_third(const Rows (&rows)[2], unsigned third, const Third& place, const std::int32_t* words,
                             std::size_t pairs) {
  const V8 first = hn::LoadDup128(d8, kFirstPair[third][static_cast<std::size_t>(place.distance)].data());
  const V8 second = hn::LoadDup128(d8, kSecondPair[third][static_cast<std::size_t>(place.distance)].data());
  Sums sums;
  for (Sum& sum : sums.of) sum.start();
  std::size_t offset = static_cast<std::size_t>(place.offset);
  const std::size_t count = kPairs != 0 ? kPairs : pairs;
#pragma GCC unroll 6
  for (std::size_t p = 0; p < count; p += kPairsAtOnce, offset += 6 * kPairsAtOnce, words += 8 * kPairsAtOnce) {
    const V32 high = hn::LoadDup128(d32, words);
    const V32 low = hn::LoadDup128(d32, words + 4);
    V8 block[kRowVectors];
#pragma GCC unroll 4
    for (int r = 0; r < kRowVectors; ++r) {
      block[r] = rows[r].load(offset);
      sums.of[r].add(hn::TableLookupBytes(block[r], first), high, low);
      add_now(sums.of[r]);
    }
    if (kPairsAtOnce == 1 || p + 1 == count) continue;
    const V32 next_high = hn::LoadDup128(d32, words + 8);
    const V32 next_low = hn::LoadDup128(d32, words + 12);
#pragma GCC unroll 4
    for (int r = 0; r < kRowVectors; ++r) {
      sums.of[r].add(hn::TableLookupBytes(block[r], second), next_high, next_low);
      add_now(sums.of[r]);
    }
  }
  return sums;
}

template <int kPairs, int kPairsAtOnce>
void across_groups(const std::uint8_t* const* from, std::uint8_t* const* out, const AcrossWeights& weights) {
  const Rows rows[2] = {Rows(from), Rows(from + (kRowVectors - 1) * kBlocks)};
  const V8 order = hn::LoadDup128(d8, weights.mirrored ? kReverseFour.data() : kFour.data());
  const std::size_t pairs = static_cast<std::size_t>(weights.widest + 1) / 2;
  const Third* third = weights.thirds;
  const std::int32_t* words = weights.spread;
  for (std::size_t x = 0; x < static_cast<std::size_t>(weights.count); x += kGroup, third += kThirds) {
    V32 values[kThirds][kRowVectors];
#pragma GCC unroll 3
    for (unsigned t = 0; t < kThirds; ++t, words += 8 * pairs) {
      const Sums sums = across_third<kPairs, kPairsAtOnce>(rows, t, third[t], words, pairs);
      for (int r = 0; r < kRowVectors; ++r) values[t][r] = sums.of[r].rounded();
    }
    for (int r = 0; r < kRowVectors; ++r) {
      const V8 bytes = pack(values[0][r], values[1][r], values[2][r], values[2][r]);
      store_blocks(d8, hn::TableLookupBytes(bytes, order), out + r * kBlocks, 3 * x);
    }
  }
}

inline std::int32_t spread_thirds(const AcrossWeights& weights, Third* thirds, std::int32_t* words) {
  const hn::Full128<std::int32_t> d;
  const auto count = static_cast<std::size_t>(weights.count);
  // Of a third of the group at x: its two outputs from left to right.
  const auto left_of = [&](std::size_t x, std::size_t third) { return x + (weights.mirrored ? 3 - third : third); };
  const auto right_of = [&](std::size_t x, std::size_t third) {
    return x + (weights.mirrored ? 2 - third : third + 1);
  };
  std::int32_t farthest = 0;
  for (std::size_t x = 0; x < count; x += kGroup) {
    for (std::size_t third = 0; third < kThirds; ++third, ++thirds) {
      const std::int32_t start = weights.starts[left_of(x, third)];
      const std::int32_t distance = weights.starts[right_of(x, third)] - start;
      const unsigned channel = first_channel(static_cast<unsigned>(third), static_cast<unsigned>(distance));
      *thirds = {3 * start + static_cast<std::int32_t>(channel), distance};
      farthest = std::max(farthest, distance);
    }
  }
  if (farthest > kFarthest) return farthest;
  for (std::size_t x = 0; x < count; x += kGroup) {
    for (std::size_t third = 0; third < kThirds; ++third) {
      const auto is_right = hn::Gt(hn::Iota(d, static_cast<std::int32_t>(third)), hn::Set(d, 2));
      const std::int32_t* left = weights.words + left_of(x, third);
      const std::int32_t* right = weights.words + right_of(x, third);
      for (std::int32_t row = 0; row < (weights.widest + 1) / 2 * 2; ++row, words += 4) {
        hn::StoreU(hn::IfThenElse(is_right, hn::Set(d, *right), hn::Set(d, *left)), d, words);
        left += weights.stride;
        right += weights.stride;
      }
    }
  }
  return farthest;
}

#endif

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
