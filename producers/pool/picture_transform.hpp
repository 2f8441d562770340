// SPDX-License-Identifier: Apache-2.0
// From a picture that a Filler holds to its place in a slot, by the transform of its tensor.
#pragma once

#include <cstdint>
#include <feedring/producer.hpp>
#include <span>

#include "producers/plan/draw.hpp"
#include "producers/transform/pipeline.hpp"

namespace feedring {

/// For one sample; borrows the tensor's pipeline.
class PictureTransform {
 public:
  PictureTransform(Pipeline& pipeline, const Draw& random, std::uint64_t max_pixels)
      : pipeline_(pipeline), random_(random), max_pixels_(max_pixels) {}

  /// Writes all of `out`. Throws Error(kData) for a picture that is empty, too large, or does not fit the transform.
  void run(const RgbPicture& picture, std::span<std::byte> out);

 private:
  Pipeline& pipeline_;
  Draw random_;
  std::uint64_t max_pixels_;
};

}  // namespace feedring
