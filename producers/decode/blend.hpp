// SPDX-License-Identifier: Apache-2.0
// The arithmetic of alpha and ink in 8 bit, with Pillow's rounding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "producers/decode/image.hpp"

namespace feedring {

/// round(value / 255) for 0 .. 255 * 255.
constexpr std::uint8_t over_255(std::uint32_t value) noexcept {
  value += 128;
  return static_cast<std::uint8_t>(((value >> 8) + value) >> 8);
}

/// A colour of some opacity to one without: over the background, as Pillow's Image.paste(colour, mask=alpha) makes it;
/// without a background the colour alone.
constexpr void put_rgba(Rgb colour, std::uint8_t alpha, const std::optional<Rgb>& background,
                        std::uint8_t* out) noexcept {
  if (background) {
    const std::uint32_t rest = 255u - alpha;
    colour = {over_255(background->red * rest + colour.red * std::uint32_t{alpha}),
              over_255(background->green * rest + colour.green * std::uint32_t{alpha}),
              over_255(background->blue * rest + colour.blue * std::uint32_t{alpha})};
  }
  out[0] = colour.red;
  out[1] = colour.green;
  out[2] = colour.blue;
}

/// What a channel was before it was multiplied with its alpha, as Pillow's RGBa unpackers compute it; alpha is not 0.
constexpr std::uint8_t unmultiplied(std::uint8_t value, std::uint8_t alpha) noexcept {
  if (alpha == 255) return value;
  return static_cast<std::uint8_t>(std::min(255 * value / alpha, 255));
}

/// Ink to light, with Pillow's rounding: with K' = 255 - K, R = K' - round(C K' / 255).
constexpr void put_cmyk(const std::uint8_t* ink, std::uint8_t* out) noexcept {
  const std::uint32_t rest = 255u - ink[3];
  for (int channel = 0; channel < 3; ++channel) {
    out[channel] = static_cast<std::uint8_t>(rest - over_255(ink[channel] * rest));
  }
}

}  // namespace feedring
