// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/tiff_rows.hpp"

#include <cstring>

#include "producers/decode/blend.hpp"

namespace feedring {
namespace {

using Colour = TiffSamples::Colour;
using Alpha = TiffSamples::Alpha;

std::size_t colours_of(Colour colour) {
  switch (colour) {
    case Colour::kRgb: return 3;
    case Colour::kCmyk: return 4;
    default: return 1;
  }
}

std::uint16_t wide(const std::uint8_t* at) {
  std::uint16_t value = 0;  // libtiff has brought it to the host's byte order
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// A sample that stands alone in its pixel, of 1, 2, 4, 8 or 12 bits; the first pixel sits in the high bits.
std::uint32_t packed(const std::uint8_t* row, std::uint32_t bits, std::size_t index) {
  const std::size_t bit = index * bits;
  const std::uint32_t mask = (1u << bits) - 1;
  if (bits <= 8) return row[bit / 8] >> (8 - bits - bit % 8) & mask;
  const std::uint32_t two = std::uint32_t{row[bit / 8]} << 8 | row[bit / 8 + 1];
  return two >> (16 - bits - bit % 8) & mask;
}

/// The gray of a pixel; depths other than 8 are brought there by rounding, which is exact below 8.
std::uint8_t gray_of(const TiffSamples& samples, const TiffRow& row, std::size_t x) {
  const std::uint32_t most = (1u << samples.bits) - 1;
  const std::uint8_t* at = row.channel[0];
  std::uint32_t value = samples.bits == 16  ? wide(at + x * row.step)
                        : samples.bits == 8 ? at[x * row.step]
                                            : packed(at, samples.bits, x);
  if (samples.white_is_zero) value = most - value;
  return static_cast<std::uint8_t>((value * 255 + most / 2) / most);
}

/// A colour's sample in 8 bits; of 16 bits the high byte, as in Pillow.
std::uint8_t sample_of(const TiffSamples& samples, const TiffRow& row, std::size_t channel, std::size_t x) {
  const std::uint8_t* at = row.channel[channel] + x * row.step;
  return samples.bits == 16 ? static_cast<std::uint8_t>(wide(at) >> 8) : *at;
}

Rgb colour_of(const TiffSamples& samples, const TiffRow& row, std::size_t x) {
  if (samples.colour == Colour::kGray) {
    const std::uint8_t gray = gray_of(samples, row, x);
    return {gray, gray, gray};
  }
  if (samples.colour == Colour::kPalette) {
    const std::uint32_t index =
        samples.bits == 8 ? row.channel[0][x * row.step] : packed(row.channel[0], samples.bits, x);
    const auto entry = [&](int channel) { return static_cast<std::uint8_t>(samples.palette[channel][index] >> 8); };
    return {entry(0), entry(1), entry(2)};
  }
  std::uint8_t values[4] = {};
  for (std::size_t c = 0; c < colours_of(samples.colour); ++c) values[c] = sample_of(samples, row, c, x);
  if (samples.colour == Colour::kRgb) return {values[0], values[1], values[2]};
  std::uint8_t rgb[3];
  put_cmyk(values, rgb);
  return {rgb[0], rgb[1], rgb[2]};
}

}  // namespace

std::size_t TiffSamples::used() const noexcept { return colours_of(colour) + (alpha == Alpha::kNone ? 0 : 1); }

void tiff_row_to_rgb(const TiffSamples& samples, const TiffRow& row, std::size_t first, std::size_t count,
                     const std::optional<Rgb>& background, std::uint8_t* out) {
  const std::size_t colours = colours_of(samples.colour);
  for (std::size_t x = first; x < first + count; ++x, out += 3) {
    Rgb colour = colour_of(samples, row, x);
    const std::uint8_t alpha = samples.alpha == Alpha::kNone ? 255 : sample_of(samples, row, colours, x);
    if (samples.alpha == Alpha::kMultiplied) {
      // Pillow leaves gray as it is where alpha is 0, and makes colours black.
      if (alpha != 0) {
        colour = {unmultiplied(colour.red, alpha), unmultiplied(colour.green, alpha), unmultiplied(colour.blue, alpha)};
      } else if (samples.colour == Colour::kRgb) {
        colour = {};
      }
    }
    put_rgba(colour, alpha, background, out);
  }
}

}  // namespace feedring
