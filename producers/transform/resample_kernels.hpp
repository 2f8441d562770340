// SPDX-License-Identifier: Apache-2.0
// The inner loops of a resize, compiled for several instruction sets and chosen at run time. All variants give the same
// bytes. Internal to this folder: preconditions are the caller's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "producers/transform/weights.hpp"

namespace feedring::kernels {

/// Fractional bits of a weight, and how many of them its low half holds (see AxisWeights).
inline constexpr int kWeightBits = 22;
inline constexpr int kSplitBits = 8;
/// Rows that one call of `across` makes.
inline constexpr std::int32_t kRowsAtOnce = 4;
/// Arrays with an entry per output have room up to the next multiple of this: whole vectors are stored.
inline constexpr std::size_t kOutputsAtOnce = 16;
/// Outputs that `across` makes together. It reads the entries of all of them, also behind the last output.
inline constexpr std::int32_t kGroup = 4;
/// Rows that `across` writes have this many spare bytes behind them; rows that it reads, kSlack.
inline constexpr std::size_t kRowSpare = 16 * 3 + 16;

/// The run of outputs whose taps and weights are wanted (see AxisWeights::build).
struct Axis {
  std::int32_t source;
  std::int32_t target;
  std::int32_t first;
  std::int32_t count;
  Filter filter;
  bool mirrored;
};

/// Finds each output's source pixels [start, end); returns the largest number of them. Entries behind the last output
/// repeat it, up to the next multiple of kGroup.
std::int32_t locate(const Axis& axis, std::int32_t* starts, std::int32_t* ends);

/// Fills 2 * pairs rows of `words`, `stride` apart, for taps that begin at `starts`, which are first lowered to
/// `latest` where they are above it. `raw` has 2 * pairs * kOutputsAtOnce entries of scratch.
void weigh(const Axis& axis, std::int32_t latest, std::int32_t pairs, std::int32_t* starts, const std::int32_t* ends,
           double* raw, std::int32_t* words, std::size_t stride);

inline constexpr std::int32_t kThirds = 3;

/// Fills `thirds`, of which there are kThirds for each group of kGroup outputs, and 4 * 2 * pairs words for each of
/// them, from the other members; returns the largest distance. Where that is too large for `across` to use them, there
/// are no words.
std::int32_t spread(const AcrossWeights& weights, Third* thirds, std::int32_t* words);

/// Rows of RGB: rows[r] points to source pixel 0 of row r (which may lie before the row's memory, if no output reads
/// it), out[r] gets the outputs.
void across(const std::uint8_t* const (&rows)[kRowsAtOnce], std::uint8_t* const (&out)[kRowsAtOnce],
            const AcrossWeights& weights);

/// One row from 2 * pairs rows: out[i] from rows[t][i] for i < bytes, exactly `bytes` bytes written. The words of the
/// output row are words[row * stride].
void down(const std::uint8_t* const* rows, const std::int32_t* words, std::size_t stride, std::int32_t pairs,
          std::uint8_t* out, std::size_t bytes);

/// Copies `count` pixels of RGB in reverse order, exactly 3 * count bytes.
void reverse(const std::uint8_t* pixels, std::uint8_t* out, std::int32_t count);

/// Name of the instruction set in use ("AVX3", "AVX2", …), for benchmarks and messages.
const char* instruction_set();

}  // namespace feedring::kernels
