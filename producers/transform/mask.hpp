// SPDX-License-Identifier: Apache-2.0
// The mask of a picture: where each pixel's number says what is there. What happens to the picture's geometry happens
// to it, with the nearest pixel in the place of any interpolation; what changes colours does not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "producers/transform/pipeline.hpp"

namespace feedring {

/// Why a chain's pictures cannot have masks, as torchvision would refuse it; empty: they can.
[[nodiscard]] std::string unfit_for_masks(const Chain& chain);

/// One per thread; keeps its scratch.
class MaskMaker {
 public:
  /// Writes the mask in `file` for the picture that `picture` was drawn for, which has to be of its size: a byte for
  /// each pixel of the result. On a fault `out` is undefined.
  Fault run(std::span<const std::uint8_t> file, Decoder& decoder, const Drawn& picture, std::uint64_t max_pixels,
            std::span<std::uint8_t> out);

 private:
  Drawn drawn_;
  Renderer renderer_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace feedring
