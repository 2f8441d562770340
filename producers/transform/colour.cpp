// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/colour.hpp"

#include <algorithm>
#include <array>

#include "producers/transform/blend.hpp"
#include "producers/transform/gray.hpp"

namespace feedring {
namespace {

template <class Change>
void change(const RgbPixels& image, Change change_pixel) {
  for (std::int32_t y = 0; y < image.size.height; ++y) {
    std::uint8_t* pixel = image.data + static_cast<std::size_t>(y) * image.stride;
    for (std::int32_t x = 0; x < image.size.width; ++x, pixel += 3) change_pixel(pixel);
  }
}

struct Hsv {
  std::uint8_t hue;
  std::uint8_t saturation;
  std::uint8_t value;
};

// Pillow's convert("HSV"), with its mixture of float and double.
Hsv hsv_of(const std::uint8_t* rgb) noexcept {
  const std::uint8_t red = rgb[0];
  const std::uint8_t green = rgb[1];
  const std::uint8_t blue = rgb[2];
  const std::uint8_t most = std::max({red, green, blue});
  const std::uint8_t least = std::min({red, green, blue});
  if (most == least) return {0, 0, most};
  const auto range = static_cast<float>(most - least);
  const auto below = [&](std::uint8_t channel) { return static_cast<float>(most - channel) / range; };
  float hue = 0.0F;  // in sixths of the circle
  if (red == most) {
    hue = below(blue) - below(green);
  } else if (green == most) {
    hue = static_cast<float>(2.0 + below(red) - below(blue));
  } else {
    hue = static_cast<float>(4.0 + below(green) - below(red));
  }
  double turned = hue / 6.0 + 1.0;  // from 5/6 to 11/6
  if (turned >= 1.0) turned -= 1.0;
  const float saturation = range / static_cast<float>(most);
  return {static_cast<std::uint8_t>(static_cast<float>(turned) * 255.0), static_cast<std::uint8_t>(saturation * 255.0),
          most};
}

// Where a hue stands: in which sixth of the circle, and how far into it.
struct Sector {
  int sixth;
  float rest;
};

Sector sector_of(int hue) noexcept {
  const double place = hue * 6.0 / 255.0;
  const int whole = static_cast<int>(place);
  return {whole % 6, static_cast<float>(place - whole)};
}

// Pillow's convert("RGB") of HSV.
void put_rgb(std::uint8_t* rgb, const Sector& sector, std::uint8_t saturation, std::uint8_t value) noexcept {
  const auto share = static_cast<float>(saturation / 255.0);
  const auto dimmed = [&](double by) { return static_cast<std::uint8_t>(value * (1.0 - by) + 0.5); };
  const std::uint8_t least = dimmed(share);
  const std::uint8_t falling = dimmed(share * sector.rest);
  const std::uint8_t rising = dimmed(share * (1.0 - sector.rest));
  const auto put = [&](std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
    rgb[0] = red;
    rgb[1] = green;
    rgb[2] = blue;
  };
  switch (sector.sixth) {
    case 0: return put(value, rising, least);
    case 1: return put(falling, value, least);
    case 2: return put(least, value, rising);
    case 3: return put(least, falling, value);
    case 4: return put(rising, least, value);
    default: return put(value, least, falling);
  }
}

}  // namespace

void make_gray(const RgbPixels& image) noexcept {
  change(image, [](std::uint8_t* pixel) { pixel[0] = pixel[1] = pixel[2] = gray_of(pixel); });
}

void saturate(const RgbPixels& image, double factor) noexcept {
  change(image, [factor = static_cast<float>(factor)](std::uint8_t* pixel) {
    const int gray = gray_of(pixel);
    for (int c = 0; c < 3; ++c) pixel[c] = blend(gray, pixel[c], factor);
  });
}

void turn_hue(const RgbPixels& image, double share) noexcept {
  const auto shift = static_cast<std::uint8_t>(static_cast<int>(share * 255));  // negative ones wrap, as hues do
  std::array<Sector, 256> sectors{};
  for (int hue = 0; hue < 256; ++hue) {
    sectors[static_cast<std::size_t>(hue)] = sector_of(static_cast<std::uint8_t>(hue + shift));
  }
  change(image, [&](std::uint8_t* pixel) {
    const Hsv hsv = hsv_of(pixel);
    if (hsv.saturation == 0) {
      pixel[0] = pixel[1] = pixel[2] = hsv.value;
    } else {
      put_rgb(pixel, sectors[hsv.hue], hsv.saturation, hsv.value);
    }
  });
}

}  // namespace feedring
