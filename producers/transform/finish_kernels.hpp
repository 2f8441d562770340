// SPDX-License-Identifier: Apache-2.0
// Inner loops of Finish, compiled for several instruction sets and chosen at run time. Internal to this folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/layout.hpp"

namespace feedring::kernels {

/// Interleaved RGB to three planes: exactly `pixels` bytes each.
void split_channels(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* red, std::uint8_t* green,
                    std::uint8_t* blue);

/// value * slope + offset, rounded once, and then to the nearest of 16 bits. Where that is a tie the larger magnitude
/// of bfloat16 is taken.
struct Line {
  std::array<float, 3> slope{};
  std::array<float, 3> offset{};
};

/// (value * scale - mean) / std, as a chain's floating point steps compute it.
struct Affine {
  float scale = 1;
  std::array<float, 3> mean{};
  std::array<float, 3> std{1, 1, 1};
  Dtype step = Dtype::kFloat32;  ///< what the result of each of the three operations is rounded to
  Dtype to = Dtype::kFloat32;    ///< what the slot holds: a floating point type
  Layout layout = Layout::kNhwc;
  std::optional<Line> line = std::nullopt;  ///< instead of the steps; `to` is of 16 bits
};

/// Computes elements of leading pixels of an image of so many and writes them at `out`; returns the number of pixels
/// it did, which is a whole number of blocks. Not on every processor does it round as `affine` says: who calls it
/// compares its results with the right ones first.
[[nodiscard]] std::size_t run_affine(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels,
                                     std::uint8_t* out);

}  // namespace feedring::kernels
