// SPDX-License-Identifier: Apache-2.0
// Crops, resizes and flips of one image, reduced to as few passes over its pixels as give the same result: as a rule
// one, which reads no more of the image than it needs and writes the result where it is wanted.
#pragma once

#include <cstdint>
#include <vector>

#include "producers/decode/image.hpp"
#include "producers/transform/choices.hpp"

namespace feedring {

/// One pass: crop, resize, crop or pad, flip.
struct Stage {
  Box source{};   ///< the part of its input that is resized; inside the input
  Size target{};  ///< what `source` is resized to; its own size: nothing is resized
  Filter filter = Filter::kBilinear;
  Box frame{};            ///< what the stage writes, in pixels of the target; may stick out of it
  Box visible{};          ///< the part of the frame that shows pixels of the target; may be empty
  Colour fill{};          ///< the rest of the frame
  bool mirrored = false;  ///< the frame is written right to left
  Box need{};             ///< the part of its input that the stage reads (set by Geometry::finish)
};

/// Where `visible` lies in the stage's output, whose upper left corner is (0, 0).
[[nodiscard]] Box visible_in_output(const Stage& stage) noexcept;

/// Builds the stages step by step; reused from image to image.
class Geometry {
 public:
  /// Begins anew with an image of `image` pixels, not empty.
  void start(Size image);
  /// All of `choices`, which a chain made for the image of this size.
  void apply(const Choices& choices);
  /// The part `box` of the current image, not empty; what sticks out becomes `fill`.
  void crop(Box box, Colour fill = {});
  void resize(Size target, Filter filter);
  void flip();

  /// Works out what each stage needs and narrows those before it to that. A fault where a stage between would write
  /// more than `max_pixels` pixels. To be called once, after the last step.
  Fault finish(std::uint64_t max_pixels);

  /// Size of the current image: after finish(), of the result.
  [[nodiscard]] Size size() const noexcept { return {last().frame.width, last().frame.height}; }
  /// Never empty. The first one's input is the image.
  [[nodiscard]] const std::vector<Stage>& stages() const noexcept { return stages_; }

 private:
  [[nodiscard]] const Stage& last() const noexcept { return stages_.back(); }
  void push_identity(Size size);

  std::vector<Stage> stages_;
};

}  // namespace feedring
