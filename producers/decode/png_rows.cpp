// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/png_rows.hpp"

#include <algorithm>
#include <cstring>

namespace feedring {
namespace {

std::size_t channels_of(const spng_ihdr& header) {
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_TRUECOLOR: return 3;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
    default: return 1;
  }
}

/// round(v / 257); 257 is odd, so there are no ties.
std::uint8_t narrow(std::uint16_t v) { return static_cast<std::uint8_t>((v + 128u) / 257u); }

/// Copies pixels of `channels` samples; the colour is the first one, thrice, or the first three.
void copy_8(const std::uint8_t* in, std::size_t channels, std::uint32_t count, std::uint8_t* out, std::size_t step) {
  const std::size_t green = channels >= 3 ? 1 : 0;
  const std::size_t blue = channels >= 3 ? 2 : 0;
  for (std::uint32_t i = 0; i < count; ++i, in += channels, out += step) {
    out[0] = in[0];
    out[1] = in[green];
    out[2] = in[blue];
  }
}

void copy_16(const std::uint8_t* in, std::size_t channels, std::uint32_t count, std::uint8_t* out, std::size_t step) {
  const std::size_t colours = channels >= 3 ? 3 : 1;
  for (std::uint32_t i = 0; i < count; ++i, in += 2 * channels, out += step) {
    std::uint16_t v[3];
    std::memcpy(v, in, 2 * colours);
    out[0] = narrow(v[0]);
    out[1] = colours == 3 ? narrow(v[1]) : out[0];
    out[2] = colours == 3 ? narrow(v[2]) : out[0];
  }
}

/// One sample of 1, 2, 4 or 8 bits; the first pixel sits in the high bits of its byte.
std::uint8_t sample_at(const std::uint8_t* row, unsigned depth, std::size_t index) {
  const std::size_t bit = index * depth;
  const unsigned mask = (1u << depth) - 1;
  return static_cast<std::uint8_t>(row[bit / 8] >> (8 - depth - bit % 8) & mask);
}

}  // namespace

PngPalette make_palette(const spng_plte& entries) {
  PngPalette palette;
  for (std::uint32_t i = 0; i < 256; ++i) {
    const auto gray = static_cast<std::uint8_t>(i);
    const spng_plte_entry& entry = entries.entries[i];
    const bool known = i < entries.n_entries;
    palette.rgb[i][0] = known ? entry.red : gray;
    palette.rgb[i][1] = known ? entry.green : gray;
    palette.rgb[i][2] = known ? entry.blue : gray;
  }
  return palette;
}

std::size_t png_row_bytes(const spng_ihdr& header, std::uint32_t width) {
  return (std::size_t{width} * channels_of(header) * header.bit_depth + 7) / 8;
}

void png_row_to_rgb(const spng_ihdr& header, const PngPalette& palette, const std::uint8_t* row, std::uint32_t first,
                    std::uint32_t count, std::uint8_t* out, std::size_t step) {
  const std::size_t channels = channels_of(header);
  const unsigned depth = header.bit_depth;
  if (header.color_type == SPNG_COLOR_TYPE_INDEXED) {
    for (std::size_t i = first; i < std::size_t{first} + count; ++i, out += step) {
      std::memcpy(out, palette.rgb[sample_at(row, depth, i)], 3);
    }
  } else if (depth < 8) {
    const unsigned scale = 255 / ((1u << depth) - 1);
    for (std::size_t i = first; i < std::size_t{first} + count; ++i, out += step) {
      std::fill_n(out, 3, static_cast<std::uint8_t>(sample_at(row, depth, i) * scale));
    }
  } else if (depth == 8) {
    const std::uint8_t* in = row + first * channels;
    if (channels == 3 && step == 3) {
      std::memcpy(out, in, std::size_t{3} * count);
    } else {
      copy_8(in, channels, count, out, step);
    }
  } else {
    copy_16(row + first * channels * 2, channels, count, out, step);
  }
}

}  // namespace feedring
