// SPDX-License-Identifier: Apache-2.0
// The headers of the JPEG files that the own decoder takes: one baseline scan of 8 bit, gray or YCbCr, chroma of one
// block a unit, no restart intervals. Whatever else there is, and everything odd, is libjpeg-turbo's.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "producers/decode/image.hpp"

namespace feedring::seekjpeg {

inline constexpr int kBlock = 8;  // samples a side

struct Component {
  std::uint8_t id = 0;
  std::uint8_t across = 1;  ///< blocks of a unit side by side
  std::uint8_t down = 1;    ///< and one above the other
  std::uint8_t quant = 0;
  std::uint8_t dc = 0;
  std::uint8_t ac = 0;
};

struct Header {
  Size size;
  int components = 0;  ///< 1 or 3
  std::array<Component, 3> component;
  /// Blocks in the unit of libjpeg's progress: how many rows of them it always decodes together. Differs from the first
  /// component's in gray files alone.
  int rows_together = 1;
  std::array<std::array<std::uint16_t, 64>, 4> quant;  ///< in the order of rows
  /// As in the file: sixteen counts, then the symbols; nullptr where the file has none. Checked for length alone.
  std::array<const std::uint8_t*, 4> dc{};
  std::array<const std::uint8_t*, 4> ac{};
  std::span<const std::uint8_t> scan;  ///< from the first byte of the scan to the end of the file
};

/// Zigzag order to the order of rows.
inline constexpr std::array<std::uint8_t, 64> kNatural = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// False: not for this decoder. What `header` points at lies in `bytes`.
bool read_header(std::span<const std::uint8_t> bytes, Header& header);

}  // namespace feedring::seekjpeg
