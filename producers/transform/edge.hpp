// SPDX-License-Identifier: Apache-2.0
// Images continued beyond their edges by their own pixels, as numpy.pad does, by which torchvision pads Pillow images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "producers/decode/image.hpp"
#include "producers/transform/steps.hpp"

namespace feedring {

/// The place in [0, length) whose pixel stands at `place` of an axis of `length` pixels, which may be outside of it.
/// Precondition: length >= 1, edge is not kConstant.
[[nodiscard]] std::int32_t inside_of(Edge edge, std::int32_t place, std::int32_t length) noexcept;

/// Places [start, end) of an axis.
struct Extent {
  std::int32_t start;
  std::int32_t end;
};
/// The smallest that holds inside_of(place) for `count` places from `first`.
[[nodiscard]] Extent inside_extent(Edge edge, std::int32_t first, std::int32_t count, std::int32_t length) noexcept;

/// A window on an image continued beyond its edges.
struct EdgeWindow {
  Size image{};  ///< that is continued
  Box window{};  ///< in its pixels; may stick out of it, or lie beside it
  Edge edge = Edge::kEdge;
  bool mirrored = false;     ///< written right to left
  bool upside_down = false;  ///< written bottom to top
};

/// One per thread; keeps its table.
class EdgeReader {
 public:
  /// Writes exactly window.width * 3 bytes a row, rows `stride` bytes apart. `pixels` holds the part `have` of the
  /// image, which contains what inside_extent says of both axes.
  void run(RgbView pixels, Box have, const EdgeWindow& from, std::uint8_t* out, std::size_t stride);

 private:
  std::vector<std::int32_t> columns_;  ///< where the pixels of a row come from, in bytes
};

}  // namespace feedring
