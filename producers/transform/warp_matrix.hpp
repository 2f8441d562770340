// SPDX-License-Identifier: Apache-2.0
// The matrices of rotations and affine maps, in the arithmetic of Pillow and torchvision.
#pragma once

#include <array>
#include <optional>

#include "producers/decode/image.hpp"
#include "producers/transform/warp.hpp"

namespace feedring {

using Point = std::array<double, 2>;  ///< x, y

struct Rotation {
  double degrees = 0.0;  ///< counterclockwise
  bool expand = false;   ///< the result holds all of the image
  std::optional<Point> center{};
};

/// What Image.rotate does to an image of `image` pixels; sets `result` to the size of what it makes, and `filter` to
/// kNearest where it only moves pixels.
[[nodiscard]] std::array<double, 6> matrix_of(const Rotation& rotation, Size image, Size& result, Filter& filter);

/// The parameters of torchvision's affine(), with angles in degrees and clockwise.
struct AffineMap {
  double angle = 0.0;
  Point translate{};
  double scale = 1.0;
  Point shear{};
};

/// `center` is the middle of the image unless given.
[[nodiscard]] std::array<double, 6> matrix_of(const AffineMap& map, Size image, std::optional<Point> center);

}  // namespace feedring
