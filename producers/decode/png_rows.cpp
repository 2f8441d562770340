// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/png_rows.hpp"

#include <algorithm>
#include <cstring>

#include "producers/decode/blend.hpp"

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

std::uint16_t wide(const std::uint8_t* at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void copy_16(const std::uint8_t* in, std::size_t channels, std::uint32_t count, std::uint8_t* out, std::size_t step) {
  for (std::uint32_t i = 0; i < count; ++i, in += 2 * channels, out += step) {
    if (channels == 1) {
      std::fill_n(out, 3, narrow(wide(in)));
      continue;
    }
    for (std::size_t c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(wide(in + (channels >= 3 ? 2 * c : 0)) >> 8);
  }
}

/// One sample of 1, 2, 4 or 8 bits; the first pixel sits in the high bits of its byte.
std::uint8_t sample_at(const std::uint8_t* row, unsigned depth, std::size_t index) {
  const std::size_t bit = index * depth;
  const unsigned mask = (1u << depth) - 1;
  return static_cast<std::uint8_t>(row[bit / 8] >> (8 - depth - bit % 8) & mask);
}

/// The alpha of a pixel: its last sample, or 0 for the one colour that the file calls transparent.
std::uint8_t alpha_at(const PngColours& colours, const std::uint8_t* row, std::size_t index) {
  const unsigned depth = colours.header.bit_depth;
  const std::size_t channels = channels_of(colours.header);
  const auto sample = [&](std::size_t channel) -> std::uint16_t {
    const std::size_t at = index * channels + channel;
    if (depth == 16) return wide(row + 2 * at);
    return depth == 8 ? row[at] : sample_at(row, depth, at);
  };
  if (channels % 2 == 0) return static_cast<std::uint8_t>(sample(channels - 1) >> (depth - 8));
  if (!colours.has_key) return 255;
  for (std::size_t c = 0; c < channels; ++c) {
    if (sample(c) != colours.key[c]) return 255;
  }
  return 0;
}

void blend(const PngColours& colours, const std::uint8_t* row, std::uint32_t first, std::uint32_t count,
           std::uint8_t* out, std::size_t step) {
  for (std::size_t i = first; i < std::size_t{first} + count; ++i, out += step) {
    put_rgba({out[0], out[1], out[2]}, alpha_at(colours, row, i), colours.background, out);
  }
}

}  // namespace

PngPalette make_palette(const spng_plte& entries, const spng_trns& transparent, const std::optional<Rgb>& background) {
  PngPalette palette;
  for (std::uint32_t i = 0; i < 256; ++i) {
    const spng_plte_entry& entry = entries.entries[i];
    const Rgb colour = i < entries.n_entries ? Rgb{entry.red, entry.green, entry.blue} : Rgb{};
    const bool opaque = i >= transparent.n_type3_entries;
    put_rgba(colour, opaque ? 255 : transparent.type3_alpha[i], background, palette.rgb[i]);
  }
  return palette;
}

std::size_t png_row_bytes(const spng_ihdr& header, std::uint32_t width) {
  return (std::size_t{width} * channels_of(header) * header.bit_depth + 7) / 8;
}

void png_row_to_rgb(const PngColours& colours, const std::uint8_t* row, std::uint32_t first, std::uint32_t count,
                    std::uint8_t* out, std::size_t step) {
  const spng_ihdr& header = colours.header;
  const std::size_t channels = channels_of(header);
  const unsigned depth = header.bit_depth;
  if (header.color_type == SPNG_COLOR_TYPE_INDEXED) {
    for (std::size_t i = first; i < std::size_t{first} + count; ++i, out += step) {
      std::memcpy(out, colours.palette.rgb[sample_at(row, depth, i)], 3);
    }
    return;
  }
  if (depth < 8) {
    const unsigned scale = 255 / ((1u << depth) - 1);
    std::uint8_t* to = out;
    for (std::size_t i = first; i < std::size_t{first} + count; ++i, to += step) {
      std::fill_n(to, 3, static_cast<std::uint8_t>(sample_at(row, depth, i) * scale));
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
  if (colours.background) blend(colours, row, first, count, out, step);
}

}  // namespace feedring
