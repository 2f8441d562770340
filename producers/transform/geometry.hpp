// SPDX-License-Identifier: Apache-2.0
// What a chain does to one image, reduced to as few passes over its pixels as give the same result: as a rule one,
// which reads no more of the image than it needs and writes the result where it is wanted, to be operated on there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "producers/decode/image.hpp"
#include "producers/transform/choices.hpp"

namespace feedring {

/// One pass: crop, resize or warp, crop or pad, flip, then operations on the result. A stage that pads with its own
/// pixels
/// (`edge`) resizes nothing.
struct Stage {
  Box source{};   ///< the part of its input that is resized; inside the input
  Size target{};  ///< what `source` is resized to; its own size: nothing is resized
  Filter filter = Filter::kBilinear;
  std::uint32_t warp = 0;  ///< from 1, of those of the Geometry: how `source` becomes the target; 0: it is resized
  Box frame{};             ///< what the stage writes, in pixels of the target; may stick out of it
  Box visible{};           ///< the part of the frame that shows pixels of the target; may be empty
  Edge edge = Edge::kConstant;
  Colour fill{};                      ///< kConstant: the rest of the frame
  bool mirrored = false;              ///< the frame is written right to left
  bool upside_down = false;           ///< the frame is written bottom to top
  std::uint32_t first_operation = 0;  ///< of those of the Geometry, in order
  std::uint32_t operations = 0;
  Box need{};  ///< the part of its input that the stage reads (set by Geometry::finish)
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
  /// The part `box` of the current image, not empty; what sticks out becomes what `edge` says, with kConstant `fill`.
  void crop(Box box, Colour fill = {}, Edge edge = Edge::kConstant);
  void resize(Size target, Filter filter);
  void flip();
  void flip_vertically();
  void operate(const Operation& operation);
  /// The current image becomes one of `result` pixels.
  void warp(const Warp& how, Size result);

  /// Works out what each stage needs and narrows those before it to that. A fault where a stage between would write
  /// more than `max_pixels` pixels. To be called once, after the last step.
  Fault finish(std::uint64_t max_pixels);

  /// Size of the current image: after finish(), of the result.
  [[nodiscard]] Size size() const noexcept { return {last().frame.width, last().frame.height}; }
  /// Never empty. The first one's input is the image.
  [[nodiscard]] const std::vector<Stage>& stages() const noexcept { return stages_; }
  /// Precondition: stage.warp is not 0.
  [[nodiscard]] const Warp& warp(const Stage& stage) const noexcept { return warps_[stage.warp - 1]; }
  [[nodiscard]] std::span<const Operation> operations(const Stage& stage) const noexcept {
    return {operations_.data() + stage.first_operation, stage.operations};
  }

 private:
  [[nodiscard]] const Stage& last() const noexcept { return stages_.back(); }
  void push_identity(Size size);
  /// A stage whose source is the current image and that does nothing yet: the last one where it only crops.
  Stage& fresh();
  /// A stage that may still be flipped: the last one unless its operations forbid it.
  Stage& flippable();
  /// Whether the operations of `stage` may be done on a part of its result.
  [[nodiscard]] bool may_narrow(const Stage& stage) const noexcept;

  std::vector<Stage> stages_;
  std::vector<Operation> operations_;
  std::vector<Warp> warps_;
};

}  // namespace feedring
