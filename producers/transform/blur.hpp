// SPDX-License-Identifier: Apache-2.0
// torchvision's gaussian_blur: the sum over a window of normalised Gaussian weights, the image mirrored at its last
// pixels, rounded half to even.
//
// torchvision goes through PyTorch even for a Pillow image: one sum over the whole window in float, whose order is its
// backend's. Here rows are summed first, then columns, in float, tap by tap without fused operations, so that the
// result is the same on every machine. Before rounding, both lie within 0.001 of the exact sum (windows up to 33 pixels
// a side).
#pragma once

#include <cstdint>
#include <vector>

#include "producers/transform/tables.hpp"

namespace feedring {

/// `length` weights, their sum 1, of standard deviation `sigma`. Precondition: length is odd, sigma above 0.
[[nodiscard]] std::vector<float> gaussian(std::int32_t length, double sigma);

/// One per thread; keeps its scratch.
class Blurrer {
 public:
  /// In place. Precondition: half of each side of `window`, which are odd, is less than that of the image.
  void run(const RgbPixels& image, Size window, double sigma);

 private:
  std::vector<float> line_;  ///< a row of the image, continued at both ends
  std::vector<float> ring_;  ///< the rows of a window, each summed across
  std::vector<const float*> taps_;
  std::vector<float> sum_;
};

}  // namespace feedring
