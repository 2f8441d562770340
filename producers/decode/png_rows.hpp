// SPDX-License-Identifier: Apache-2.0
// Rows of PNG samples, in any depth and colour type, to 8 bit RGB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <spng.h>

#include "producers/decode/image.hpp"

namespace feedring {

/// Colours of palette indices. As in Pillow, an index beyond the file's palette is black.
struct PngPalette {
  std::uint8_t rgb[256][3];
};
/// Transparent entries are blended over the background, if there is one.
PngPalette make_palette(const spng_plte& entries, const spng_trns& transparent, const std::optional<Rgb>& background);

/// What the samples of a file become.
struct PngColours {
  spng_ihdr header;
  PngPalette palette;             ///< of a file that has one
  std::optional<Rgb> background;  ///< what transparency is blended over
  bool has_key = false;           ///< one gray or colour is transparent (tRNS), and there is a background
  std::uint16_t key[3] = {0, 0, 0};
};

/// Bytes of a row of `width` pixels in the file's own depth and colour type (PNG specification, 7.2 Scanlines).
std::size_t png_row_bytes(const spng_ihdr& header, std::uint32_t width);

/// Pixels `first`, `first` + 1, … (`count` of them) of a row to RGB, each `step` bytes after the one before.
/// 16 bit samples are in the host's byte order: gray becomes round(v / 257), colours and gray with alpha the high byte.
/// Without a background, alpha and transparent colours are dropped: what is delivered is the colour stored under them.
void png_row_to_rgb(const PngColours& colours, const std::uint8_t* row, std::uint32_t first, std::uint32_t count,
                    std::uint8_t* out, std::size_t step);

}  // namespace feedring
