// SPDX-License-Identifier: Apache-2.0
// Does operations on images.
#pragma once

#include <cstdint>
#include <vector>

#include "producers/transform/blur.hpp"
#include "producers/transform/tables.hpp"

namespace feedring {

/// One per thread; keeps its scratch.
class Painter {
 public:
  /// Does `operation` on `image`, in place: exactly size.width * 3 bytes of each row are written.
  void run(const Operation& operation, const RgbPixels& image);

 private:
  void sharpen(const RgbPixels& image, double factor);
  /// The image, without gaps.
  const std::uint8_t* copy(const RgbPixels& image);

  std::vector<std::uint8_t> copy_;
  Blurrer blurrer_;
};

}  // namespace feedring
