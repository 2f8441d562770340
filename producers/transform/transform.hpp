// SPDX-License-Identifier: Apache-2.0
// The chain of transforms of a feed, named and parametrised as in torchvision.transforms.v2 (whose rules for Pillow
// images hold: its sizes, roundings, number of tries, and Pillow's pixels).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "producers/decode/image.hpp"
#include "producers/plan/draw.hpp"
#include "producers/transform/choices.hpp"
#include "producers/transform/steps.hpp"
#include "runtime/layout.hpp"

namespace feedring {

/// Steps on pixels (steps.hpp), then ToDtype and Normalize. Immutable; may be read by any thread.
///
/// ToDtype and Normalize come last (a flip may follow them, which changes nothing about the values): resizing would
/// otherwise work on floats, with other pixels. Images are tensors from the start; there is no ToImage.
class Chain {
 public:
  /// `transform` is FeedSpec::transform: [{"name": "Resize", "size": 256}, …]. Throws Error(kUsage), which names the
  /// transform and its place, for an unknown name or parameter (with a suggestion), a value of another type or out of
  /// range, a Normalize before a floating point ToDtype, and a chain whose results differ in size.
  static Chain parse(const nlohmann::json& transform);

  /// The size of every result.
  [[nodiscard]] Size output_size() const noexcept { return output_size_; }
  /// What the last ToDtype says; nullopt without one.
  [[nodiscard]] std::optional<Dtype> dtype() const noexcept { return dtype_; }
  /// The element type of the images in a slot, for a feed that asks for `asked` (uint8 stands for "not said"): that of
  /// the last ToDtype, else `asked`. Throws Error(kUsage) where both are said and differ.
  [[nodiscard]] Dtype slot_dtype(Dtype asked) const;
  /// The chain with every parameter written out in one way: equal for equal chains, so that it can be hashed.
  [[nodiscard]] const nlohmann::json& canonical() const noexcept { return canonical_; }
  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
  /// Steps up to the last one that crops, pads or resizes. Where none of them is random they make the same pixels every
  /// time, and what is left flips those, and changes their values.
  [[nodiscard]] std::size_t geometric_steps() const noexcept;
  /// The first random one of these.
  [[nodiscard]] std::optional<std::size_t> random_step() const noexcept;

  /// What is done to an image of `image` pixels, its random choices drawn in the chain's order. Replaces `choices`.
  /// A fault where the image does not fit the chain.
  Fault draw(Size image, Draw& random, Choices& choices) const;

 private:
  std::vector<Step> steps_;
  Size output_size_;
  std::optional<Dtype> dtype_;
  nlohmann::json canonical_;
};

}  // namespace feedring
