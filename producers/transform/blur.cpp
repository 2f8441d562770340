// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/blur.hpp"

#include <bit>

#include "producers/plan/exact_math.hpp"
#include "producers/transform/blur_kernels.hpp"
#include "producers/transform/edge.hpp"

namespace feedring {
namespace {

// To the nearest integer, halves to even, of 0 to 255: the low bits of a sum whose own step is 1.
std::uint8_t rounded(float value) noexcept {
  return static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(value + 0x1.8p23F));
}

void grow(std::vector<float>& memory, std::size_t wanted) {
  if (memory.size() < wanted) memory.resize(wanted);
}

}  // namespace

std::vector<float> gaussian(std::int32_t length, double sigma) {
  std::vector<double> weights;
  double sum = 0.0;
  for (std::int32_t i = 0; i < length; ++i) {
    const double from_middle = i - length / 2;
    const double exponent = -from_middle * from_middle / (2.0 * sigma * sigma);
    weights.push_back(exponent < -700.0 ? 0.0 : exact_exp(exponent));
    sum += weights.back();
  }
  std::vector<float> result;
  for (const double weight : weights) result.push_back(static_cast<float>(weight / sum));
  return result;
}

void Blurrer::run(const RgbPixels& image, Size window, double sigma) {
  const std::vector<float> across = gaussian(window.width, sigma);
  const std::vector<float> down = gaussian(window.height, sigma);
  const std::size_t values = static_cast<std::size_t>(image.size.width) * 3;
  const std::size_t stride = values + kernels::kSumSlack;
  grow(line_, values + across.size() * 3 + kernels::kSumSlack);
  grow(ring_, stride * down.size());
  grow(sum_, stride);
  const auto slot = [&](std::int32_t y) { return ring_.data() + static_cast<std::size_t>(y % window.height) * stride; };

  std::int32_t made = 0;
  const auto make = [&](std::int32_t y) {
    const std::uint8_t* row = image.data + static_cast<std::size_t>(y) * image.stride;
    float* to = line_.data();
    for (std::int32_t x = -(window.width / 2); x < image.size.width + window.width / 2; ++x) {
      const std::uint8_t* pixel = row + std::ptrdiff_t{3} * inside_of(Edge::kReflect, x, image.size.width);
      for (int c = 0; c < 3; ++c) *to++ = pixel[c];
    }
    taps_.clear();
    for (std::size_t t = 0; t < across.size(); ++t) taps_.push_back(line_.data() + 3 * t);
    kernels::weighted_sum(taps_.data(), across.data(), across.size(), slot(y), values);
  };
  for (std::int32_t y = 0; y < image.size.height; ++y) {
    // The window's rows beyond the image are mirrored into it, so that all of them are in the ring.
    for (; made < image.size.height && made <= y + window.height / 2; ++made) make(made);
    taps_.clear();
    for (std::int32_t t = 0; t < window.height; ++t) {
      taps_.push_back(slot(inside_of(Edge::kReflect, y + t - window.height / 2, image.size.height)));
    }
    kernels::weighted_sum(taps_.data(), down.data(), down.size(), sum_.data(), values);
    std::uint8_t* out = image.data + static_cast<std::size_t>(y) * image.stride;
    for (std::size_t i = 0; i < values; ++i) out[i] = rounded(sum_[i]);
  }
}

}  // namespace feedring
