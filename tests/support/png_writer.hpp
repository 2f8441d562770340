// SPDX-License-Identifier: Apache-2.0
// Small PNGs of every depth and colour type, with the RGB pixels that they stand for, for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <spng.h>

#include "tests/support/pictures.hpp"

namespace feedring::test {

struct PngSample {
  std::vector<std::uint8_t> file;
  Picture picture;  ///< by the PNG specification: gray * 255 / max, palette colours, round(v / 257) of gray,
                    ///< the high byte of 16 bit colours and of gray with alpha, alpha dropped
};

/// A PNG of random samples. `colour_type` is the number in the file: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6
/// RGBA.
inline PngSample write_png(std::uint32_t width, std::uint32_t height, std::uint8_t colour_type, std::uint8_t depth,
                           bool interlaced, std::uint32_t seed) {
  std::mt19937 rng(seed);
  const int channels = colour_type == 2 ? 3 : colour_type == 4 ? 2 : colour_type == 6 ? 4 : 1;
  const std::uint32_t mask = (1U << depth) - 1;
  spng_plte palette{};
  spng_trns transparent{};
  palette.n_entries = 1U << std::min<int>(depth, 8);
  for (std::uint32_t i = 0; i < palette.n_entries; ++i) {
    auto channel = [&] { return static_cast<std::uint8_t>(rng()); };
    palette.entries[i] = {channel(), channel(), channel(), 255};
    transparent.type3_alpha[i] = channel();
  }
  transparent.n_type3_entries = palette.n_entries;

  PngSample sample;
  sample.picture.size = {static_cast<std::int32_t>(width), static_cast<std::int32_t>(height)};
  std::vector<std::uint8_t> raw;  // rows of samples, packed, 16 bit ones in the host's order
  auto to_8_bit = [&](std::uint32_t v) { return static_cast<std::uint8_t>(std::lround(v * 255.0 / mask)); };
  for (std::uint32_t y = 0; y < height; ++y) {
    const std::size_t start = raw.size();
    raw.resize(start + (std::size_t{width} * channels * depth + 7) / 8);
    for (std::uint32_t x = 0; x < width; ++x) {
      std::uint32_t v[4];
      for (int c = 0; c < channels; ++c) {
        v[c] = rng() & mask;
        const std::size_t bit = (std::size_t{x} * channels + c) * depth;
        if (depth == 16) {
          const auto wide = static_cast<std::uint16_t>(v[c]);
          std::memcpy(&raw[start + bit / 8], &wide, 2);
        } else {
          raw[start + bit / 8] |= static_cast<std::uint8_t>(v[c] << (8 - depth - bit % 8));
        }
      }
      const spng_plte_entry& entry = palette.entries[v[0] & 255];
      for (int c = 0; c < 3; ++c) {
        const std::uint8_t colours[] = {entry.red, entry.green, entry.blue};
        const std::uint32_t value = v[channels >= 3 ? c : 0];
        const bool high_byte = depth == 16 && colour_type != 0;
        sample.picture.rgb.push_back(colour_type == 3 ? colours[c]
                                     : high_byte      ? static_cast<std::uint8_t>(value >> 8)
                                                      : to_8_bit(value));
      }
    }
  }

  spng_ctx* context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header{width, height, depth, colour_type, 0, 0, static_cast<std::uint8_t>(interlaced ? 1 : 0)};
  spng_set_ihdr(context, &header);
  if (colour_type == 3) {
    spng_set_plte(context, &palette);
    spng_set_trns(context, &transparent);
  }
  int code = spng_encode_image(context, raw.data(), raw.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  std::size_t size = 0;
  void* file = code == 0 ? spng_get_png_buffer(context, &size, &code) : nullptr;
  if (file != nullptr) {
    const auto* begin = static_cast<const std::uint8_t*>(file);
    sample.file.assign(begin, begin + size);
    std::free(file);
  }
  spng_ctx_free(context);
  return sample;
}

}  // namespace feedring::test
