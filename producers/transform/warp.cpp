// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/warp.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace feedring {
namespace {

using Matrix = std::array<double, 6>;

std::int64_t floor_of(double x) noexcept { return static_cast<std::int64_t>(std::floor(x)); }

// The pixel that holds a position; -1 before the first.
std::int64_t pixel_of(double x) noexcept { return x < 0.0 ? -1 : static_cast<std::int64_t>(x); }

const std::uint8_t* at(RgbView image, std::int64_t x, std::int64_t y) noexcept {
  return image.data + static_cast<std::size_t>(y) * image.stride + static_cast<std::size_t>(x) * 3;
}

bool holds(RgbView image, std::int64_t x, std::int64_t y) noexcept {
  return x >= 0 && x < image.size.width && y >= 0 && y < image.size.height;
}

// For each pixel of the window, place(x, y) of the result says what to read, put(out, place) writes it.
template <class PutPixel>
void each_pixel(const WarpWindow& what, std::uint8_t* out, std::size_t stride, PutPixel put) {
  const Box& window = what.window;
  for (std::int32_t y = 0; y < window.height; ++y) {
    const std::int32_t row = what.upside_down ? window.height - 1 - y : y;
    std::uint8_t* to = out + static_cast<std::size_t>(row) * stride;
    for (std::int32_t x = 0; x < window.width; ++x) {
      const std::int32_t column = what.mirrored ? window.width - 1 - x : x;
      put(to + std::ptrdiff_t{3} * column, window.x + x, window.y + y);
    }
  }
}

bool fits_fixed_point(const Matrix& m, std::int32_t x, std::int32_t y) noexcept {
  return std::fabs(x * m[0] + y * m[1] + m[2]) < 32768.0 && std::fabs(x * m[3] + y * m[4] + m[5]) < 32768.0;
}

std::int64_t fixed(double x) noexcept { return floor_of(x * 65536.0 + 0.5); }

class Nearest {
 public:
  Nearest(const Matrix& m, Size result) noexcept : m_(m) {
    const auto [w, h] = result;
    scales_ = m[1] == 0.0 && m[3] == 0.0;
    fixed_ = !scales_ && fits_fixed_point(m, 0, 0) && fits_fixed_point(m, w, h) && fits_fixed_point(m, 0, h) &&
             fits_fixed_point(m, w, 0);
  }

  void run(RgbView source, const Warp& how, const WarpWindow& what, std::uint8_t* out, std::size_t stride) const {
    if (fixed_) {
      const std::int64_t x0 = fixed(m_[2] + m_[0] * 0.5 + m_[1] * 0.5);
      const std::int64_t y0 = fixed(m_[5] + m_[3] * 0.5 + m_[4] * 0.5);
      const std::array step{fixed(m_[0]), fixed(m_[1]), fixed(m_[3]), fixed(m_[4])};
      each_pixel(what, out, stride, [&](std::uint8_t* to, std::int32_t x, std::int32_t y) {
        put(source, how, to, (x0 + x * step[0] + y * step[1]) >> 16, (y0 + x * step[2] + y * step[3]) >> 16);
      });
      return;
    }
    // Sums that grow with the place, as Pillow's do: a product would round otherwise. Beyond 32768 pixels, and for maps
    // that only scale or shift, whose sums start in another order.
    const double x_start = scales_ ? m_[2] + m_[0] * 0.5 : m_[2] + m_[1] * 0.5 + m_[0] * 0.5;
    const double y_start = scales_ ? m_[5] + m_[4] * 0.5 : m_[5] + m_[4] * 0.5 + m_[3] * 0.5;
    Sum row{x_start, y_start};
    Sum here{};
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    each_pixel(what, out, stride, [&](std::uint8_t* to, std::int32_t x, std::int32_t y) {
      if (x == what.window.x) {
        for (; rows < y; ++rows) row = {row.x + m_[1], row.y + m_[4]};
        here = row;
        columns = 0;
      }
      for (; columns < x; ++columns) here = {here.x + m_[0], here.y + m_[3]};
      put(source, how, to, pixel_of(here.x), pixel_of(here.y));
    });
  }

 private:
  struct Sum {
    double x, y;
  };

  static void put(RgbView source, const Warp& how, std::uint8_t* to, std::int64_t x, std::int64_t y) noexcept {
    std::memcpy(to, holds(source, x, y) ? at(source, x, y) : how.fill.data(), 3);
  }

  const Matrix& m_;
  bool scales_;
  bool fixed_;
};

// A position between pixel centres: the pixel before it, clipped ones where the filter reaches out, and the rest.
struct Place {
  std::int64_t first;
  double rest;
};

Place place_of(double x) noexcept {
  const std::int64_t first = floor_of(x - 0.5);
  return {first, x - 0.5 - static_cast<double>(first)};
}

double mixed(double a, double b, double rest) noexcept { return a + (b - a) * rest; }

// Pillow's cubic, without the negative half that Image.resize has.
double cubic(double a, double b, double c, double d, double rest) noexcept {
  const double p2 = -a + c;
  const double p3 = 2 * (a - b) + c - d;
  const double p4 = -a + b - c + d;
  return b + rest * (p2 + rest * (p3 + rest * p4));
}

std::uint8_t cut(double value) noexcept {
  if (value <= 0.0) return 0;
  if (value >= 255.0) return 255;
  return static_cast<std::uint8_t>(value);
}

// `Taps` source pixels a side around the place, the first `Before` of them before it; those beyond the image are its
// nearest ones, and of rows behind the last the sum across is taken again.
template <int Taps, int Before, class Mix>
void filtered(RgbView source, Place x, Place y, std::uint8_t* to, Mix mix) noexcept {
  std::array<std::int64_t, Taps> columns{};
  for (int t = 0; t < Taps; ++t) {
    columns[static_cast<std::size_t>(t)] = std::clamp<std::int64_t>(x.first - Before + t, 0, source.size.width - 1);
  }
  std::array<std::array<double, 3>, Taps> rows{};
  for (int t = 0; t < Taps; ++t) {
    const std::int64_t row = y.first - Before + t;
    auto& sums = rows[static_cast<std::size_t>(t)];
    if (t > 0 && (row < 0 || row >= source.size.height)) {
      sums = rows[static_cast<std::size_t>(t - 1)];
      continue;
    }
    const std::int64_t inside = std::clamp<std::int64_t>(row, 0, source.size.height - 1);
    std::array<const std::uint8_t*, Taps> pixels{};
    for (int i = 0; i < Taps; ++i) {
      pixels[static_cast<std::size_t>(i)] = at(source, columns[static_cast<std::size_t>(i)], inside);
    }
    for (std::size_t c = 0; c < 3; ++c) sums[c] = mix([&](std::size_t i) -> double { return pixels[i][c]; }, x.rest);
  }
  for (std::size_t c = 0; c < 3; ++c) to[c] = cut(mix([&](std::size_t i) { return rows[i][c]; }, y.rest));
}

}  // namespace

void warp(RgbView source, const Warp& how, const WarpWindow& what, std::uint8_t* out, std::size_t stride) noexcept {
  if (how.filter == Filter::kNearest) return Nearest(how.matrix, what.result).run(source, how, what, out, stride);
  const Matrix& m = how.matrix;
  each_pixel(what, out, stride, [&](std::uint8_t* to, std::int32_t column, std::int32_t row) {
    const double x_out = column + 0.5;
    const double y_out = row + 0.5;
    const double x = m[0] * x_out + m[1] * y_out + m[2];
    const double y = m[3] * x_out + m[4] * y_out + m[5];
    if (!(x >= 0.0 && x < source.size.width && y >= 0.0 && y < source.size.height)) {
      std::memcpy(to, how.fill.data(), 3);
    } else if (how.filter == Filter::kBilinear) {
      filtered<2, 0>(source, place_of(x), place_of(y), to,
                     [](auto tap, double rest) { return mixed(tap(0), tap(1), rest); });
    } else {
      filtered<4, 1>(source, place_of(x), place_of(y), to,
                     [](auto tap, double rest) { return cubic(tap(0), tap(1), tap(2), tap(3), rest); });
    }
  });
}

}  // namespace feedring
