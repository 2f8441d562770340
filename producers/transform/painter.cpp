// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/painter.hpp"

#include <array>
#include <cstring>

#include "producers/transform/blend.hpp"
#include "producers/transform/colour.hpp"

namespace feedring {
namespace {

// ImageFilter.SMOOTH at an inner value of a channel: thirteenths in float, the row below first, as Pillow sums.
int smoothed(const std::uint8_t* at, std::size_t row) noexcept {
  constexpr float kBeside = 1.0F / 13.0F;
  constexpr float kHere = 5.0F / 13.0F;
  const auto line = [](const std::uint8_t* middle, float weight) {
    return static_cast<float>(middle[-3]) * kBeside + static_cast<float>(middle[0]) * weight +
           static_cast<float>(middle[3]) * kBeside;
  };
  float sum = 0.5F;
  sum += line(at + row, kBeside);
  sum += line(at, kHere);
  sum += line(at - row, kBeside);
  return sum >= 255.0F ? 255 : static_cast<int>(sum);
}

void erase(const RgbPixels& image, Box box, const std::array<std::uint8_t, 3>& colour) noexcept {
  for (std::int32_t y = box.y; y < box.y + box.height; ++y) {
    std::uint8_t* pixel = image.data + static_cast<std::size_t>(y) * image.stride + std::ptrdiff_t{box.x} * 3;
    for (std::int32_t x = 0; x < box.width; ++x, pixel += 3) std::memcpy(pixel, colour.data(), 3);
  }
}

}  // namespace

void Painter::run(const Operation& operation, const RgbPixels& image) {
  if (const std::optional<Tables> tables = tables_of(operation, image)) return replace(image, *tables);
  switch (operation.kind) {
    case Operation::Kind::kGrayscale: return make_gray(image);
    case Operation::Kind::kSaturation: return saturate(image, operation.amount);
    case Operation::Kind::kHue: return turn_hue(image, operation.amount);
    case Operation::Kind::kBlur:
      return blurrer_.run(image, {operation.box.width, operation.box.height}, operation.amount);
    case Operation::Kind::kErase: return erase(image, operation.box, operation.colour);
    default: return sharpen(image, operation.amount);
  }
}

const std::uint8_t* Painter::copy(const RgbPixels& image) {
  const std::size_t row = static_cast<std::size_t>(image.size.width) * 3;
  const std::size_t wanted = row * static_cast<std::size_t>(image.size.height);
  if (copy_.size() < wanted) copy_.resize(wanted);
  for (std::int32_t y = 0; y < image.size.height; ++y) {
    std::memcpy(copy_.data() + static_cast<std::size_t>(y) * row,
                image.data + static_cast<std::size_t>(y) * image.stride, row);
  }
  return copy_.data();
}

// ImageEnhance.Sharpness: from the smoothed image (0) to the image (1) and beyond. Pillow smooths no edge pixel, and no
// image of less than three pixels a side: there both are the same.
void Painter::sharpen(const RgbPixels& image, double factor) {
  const std::uint8_t* before = copy(image);
  const std::size_t row = static_cast<std::size_t>(image.size.width) * 3;
  for (std::int32_t y = 1; y + 1 < image.size.height; ++y) {
    const std::uint8_t* from = before + static_cast<std::size_t>(y) * row;
    std::uint8_t* to = image.data + static_cast<std::size_t>(y) * image.stride;
    for (std::size_t i = 3; i + 3 < row; ++i)
      to[i] = blend(smoothed(from + i, row), from[i], static_cast<float>(factor));
  }
}

}  // namespace feedring
