// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/edge.hpp"

#include <algorithm>
#include <cstring>

namespace feedring {

std::string_view name_of(Edge edge) noexcept {
  switch (edge) {
    case Edge::kConstant: return "constant";
    case Edge::kEdge: return "edge";
    case Edge::kReflect: return "reflect";
    case Edge::kSymmetric: break;
  }
  return "symmetric";
}

std::int32_t inside_of(Edge edge, std::int32_t place, std::int32_t length) noexcept {
  if (edge == Edge::kEdge || length == 1) return std::clamp(place, 0, length - 1);
  // The image forward and backward, over and over; with kReflect the pixels at the turns stand once.
  const std::int32_t turn = edge == Edge::kReflect ? length - 1 : length;
  const std::int32_t period = 2 * turn;
  const std::int32_t at = (place % period + period) % period;
  if (at < length) return at;
  return edge == Edge::kReflect ? period - at : period - 1 - at;
}

Extent inside_extent(Edge edge, std::int32_t first, std::int32_t count, std::int32_t length) noexcept {
  Extent extent{length, 0};
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t at = inside_of(edge, first + i, length);
    extent = {std::min(extent.start, at), std::max(extent.end, at + 1)};
  }
  return extent;
}

void EdgeReader::run(RgbView pixels, Box have, const EdgeWindow& from, std::uint8_t* out, std::size_t stride) {
  const Box& window = from.window;
  columns_.resize(static_cast<std::size_t>(window.width));
  for (std::int32_t x = 0; x < window.width; ++x) {
    const std::int32_t place = window.x + (from.mirrored ? window.width - 1 - x : x);
    columns_[static_cast<std::size_t>(x)] = 3 * (inside_of(from.edge, place, from.image.width) - have.x);
  }
  for (std::int32_t y = 0; y < window.height; ++y, out += stride) {
    const std::int32_t place = window.y + (from.upside_down ? window.height - 1 - y : y);
    const std::int32_t row = inside_of(from.edge, place, from.image.height) - have.y;
    const std::uint8_t* in = pixels.data + static_cast<std::size_t>(row) * pixels.stride;
    std::uint8_t* to = out;
    for (const std::int32_t column : columns_) {
      std::memcpy(to, in + column, 3);
      to += 3;
    }
  }
}

}  // namespace feedring
