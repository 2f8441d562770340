// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/orient.hpp"

#include <algorithm>
#include <cstring>

#include "producers/decode/arena.hpp"
#include "producers/decode/pixels.hpp"

namespace feedring {
namespace {

struct Point {
  std::int32_t x;
  std::int32_t y;
};

/// The stored pixel that is seen at (x, y) of the turned picture.
constexpr Point stored_point(Point seen, Size stored, std::uint8_t orientation) noexcept {
  const std::int32_t right = stored.width - 1;
  const std::int32_t bottom = stored.height - 1;
  switch (orientation) {
    case 2: return {right - seen.x, seen.y};
    case 3: return {right - seen.x, bottom - seen.y};
    case 4: return {seen.x, bottom - seen.y};
    case 5: return {seen.y, seen.x};
    case 6: return {seen.y, bottom - seen.x};
    case 7: return {right - seen.y, bottom - seen.x};
    case 8: return {right - seen.y, seen.x};
    default: return seen;
  }
}

}  // namespace

Box stored_box(Box box, Size stored, std::uint8_t orientation) noexcept {
  const Point a = stored_point({box.x, box.y}, stored, orientation);
  const Point b = stored_point({box.x + box.width - 1, box.y + box.height - 1}, stored, orientation);
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x) + 1, std::abs(a.y - b.y) + 1};
}

Fault orient(std::uint8_t orientation, Arena& arena, RgbView& view) {
  if (orientation == 1) return std::nullopt;
  const Size size = turned(view.size, orientation);
  const std::size_t stride = std::size_t{3} * size.width;
  auto* rgb = take_rgb(arena, size);
  if (rgb == nullptr) return no_memory(size);
  for (std::int32_t y = 0; y < size.height; ++y) {
    std::uint8_t* out = rgb + stride * y;
    for (std::int32_t x = 0; x < size.width; ++x, out += 3) {
      const Point from = stored_point({x, y}, view.size, orientation);
      std::memcpy(out, view.data + view.stride * from.y + std::size_t{3} * from.x, 3);
    }
  }
  view = {rgb, size, stride};
  return std::nullopt;
}

}  // namespace feedring
