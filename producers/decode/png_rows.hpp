// SPDX-License-Identifier: Apache-2.0
// Rows of PNG samples, in any depth and colour type, to 8 bit RGB.
#pragma once

#include <cstddef>
#include <cstdint>

#include <spng.h>

namespace feedring {

/// Colours of palette indices. As in Pillow, an index beyond the file's palette is the gray of its own number.
struct PngPalette {
  std::uint8_t rgb[256][3];
};
PngPalette make_palette(const spng_plte& entries);

/// Bytes of a row of `width` pixels in the file's own depth and colour type (PNG specification, 7.2 Scanlines).
std::size_t png_row_bytes(const spng_ihdr& header, std::uint32_t width);

/// Pixels `first`, `first` + 1, … (`count` of them) of a row to RGB, each `step` bytes after the one before.
/// 16 bit samples are in the host's byte order and become round(v / 257). Alpha and transparent colours are dropped:
/// what is delivered is the colour stored under them.
void png_row_to_rgb(const spng_ihdr& header, const PngPalette& palette, const std::uint8_t* row, std::uint32_t first,
                    std::uint32_t count, std::uint8_t* out, std::size_t step);

}  // namespace feedring
