// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/warp_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

namespace feedring {
namespace {

using Matrix = std::array<double, 6>;

// Python's math.radians.
double radians(double degrees) noexcept { return degrees * (std::numbers::pi / 180.0); }

// Python's round(x, 15): to the nearest decimal fraction of the exact value.
double round_15(double x) {
  char text[64];
  std::snprintf(text, sizeof text, "%.15f", x);
  return std::strtod(text, nullptr);
}

Point mapped(const Matrix& m, double x, double y) noexcept {
  return {m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5]};
}

}  // namespace

std::array<double, 6> matrix_of(const Rotation& rotation, Size image, Size& result, Filter& filter) {
  const double w = image.width;
  const double h = image.height;
  double degrees = std::fmod(rotation.degrees, 360.0);
  if (degrees < 0.0) degrees += 360.0;
  result = image;
  // Quarter turns move pixels, and resample nothing.
  if (!rotation.center) {
    const Filter asked = filter;
    filter = Filter::kNearest;
    if (degrees == 0.0) return {1, 0, 0, 0, 1, 0};
    if (degrees == 180.0) return {-1, 0, w, 0, -1, h};
    if ((degrees == 90.0 || degrees == 270.0) && (rotation.expand || w == h)) {
      result = {image.height, image.width};
      return degrees == 90.0 ? Matrix{0, -1, w, 1, 0, 0} : Matrix{0, 1, 0, -1, 0, h};
    }
    filter = asked;
  }
  const Point center = rotation.center.value_or(Point{w / 2.0, h / 2.0});
  const double angle = -radians(degrees);
  const double cosine = round_15(std::cos(angle));
  Matrix m{cosine, round_15(std::sin(angle)), 0.0, round_15(-std::sin(angle)), cosine, 0.0};
  const Point shift = mapped(m, -center[0], -center[1]);
  m[2] = shift[0] + center[0];
  m[5] = shift[1] + center[1];
  if (rotation.expand) {
    const std::array corners{mapped(m, 0, 0), mapped(m, w, 0), mapped(m, w, h), mapped(m, 0, h)};
    const auto extent = [&](std::size_t axis) {
      const auto [low, high] = std::minmax({corners[0][axis], corners[1][axis], corners[2][axis], corners[3][axis]});
      return std::ceil(high) - std::floor(low);
    };
    const double wide = extent(0);
    const double tall = extent(1);
    const Point moved = mapped(m, -(wide - w) / 2.0, -(tall - h) / 2.0);
    m[2] = moved[0];
    m[5] = moved[1];
    result = {static_cast<std::int32_t>(wide), static_cast<std::int32_t>(tall)};
  }
  return m;
}

std::array<double, 6> matrix_of(const AffineMap& map, Size image, std::optional<Point> center) {
  const double turn = radians(map.angle);
  const double shear_x = radians(map.shear[0]);
  const double shear_y = radians(map.shear[1]);
  const Point middle = center.value_or(Point{image.width * 0.5, image.height * 0.5});
  const Point moved{middle[0] + map.translate[0], middle[1] + map.translate[1]};
  const double cos_shear_y = std::cos(shear_y);
  const double tan_shear_x = std::tan(shear_x);
  const double a = std::cos(turn - shear_y) / cos_shear_y;
  const double b = -(a * tan_shear_x + std::sin(turn));
  const double c = std::sin(turn - shear_y) / cos_shear_y;
  const double d = std::cos(turn) - c * tan_shear_x;
  Matrix m{d / map.scale, -b / map.scale, 0.0, -c / map.scale, a / map.scale, 0.0};
  m[2] += middle[0] - m[0] * moved[0] - m[1] * moved[1];
  m[5] += middle[1] - m[3] * moved[0] - m[4] * moved[1];
  return m;
}

}  // namespace feedring
