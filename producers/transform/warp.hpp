// SPDX-License-Identifier: Apache-2.0
// Affine maps of 8 bit RGB with exactly the pixels of Pillow's Image.transform: positions of a result's pixel centres
// in the source, in 16.16 fixed point for the nearest pixel and in double otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "producers/decode/image.hpp"
#include "producers/transform/steps.hpp"
#include "producers/transform/weights.hpp"

namespace feedring {

/// Pixel (x, y) of the result shows the source at (m0 x + m1 y + m2, m3 x + m4 y + m5), or `fill` beyond it.
struct Warp {
  std::array<double, 6> matrix{1, 0, 0, 0, 1, 0};
  Filter filter = Filter::kNearest;  ///< kNearest, kBilinear or kBicubic
  Colour fill{};
};

/// The part of the result to write, and in which order.
struct WarpWindow {
  Size result{};
  Box window{};              ///< inside of it
  bool mirrored = false;     ///< right to left
  bool upside_down = false;  ///< bottom to top
};

/// `source` is the whole image. Writes exactly window.width * 3 bytes a row, rows `stride` bytes apart.
void warp(RgbView source, const Warp& how, const WarpWindow& what, std::uint8_t* out, std::size_t stride) noexcept;

}  // namespace feedring
