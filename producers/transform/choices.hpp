// SPDX-License-Identifier: Apache-2.0
// What a chain does to one image: every step with its sizes worked out and its random choices made.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "producers/decode/image.hpp"
#include "producers/plan/draw.hpp"
#include "producers/transform/operation.hpp"
#include "producers/transform/steps.hpp"
#include "producers/transform/warp.hpp"
#include "producers/transform/warp_matrix.hpp"

namespace feedring {

/// One step on the image that the step before it made.
struct Choice {
  enum class Kind : std::uint8_t {
    kCrop,
    kResize,
    kFlip,
    kVerticalFlip,
    kOperation,
    kErase,
    kRotate,
    kAffine,
    kApply,
    kNothing
  };
  Kind kind = Kind::kCrop;
  bool random = false;  ///< it came from the plan's random numbers, not from the parameters alone
  bool applied = true;  ///< false: it was left out
  Box box{};            ///< kCrop: the part to keep; may stick out of the image, into what `edge` says
  Edge edge = Edge::kConstant;
  Colour fill{};
  Size size{};  ///< kResize, kRotate, kAffine: of the result
  Filter filter = Filter::kBilinear;
  Operation operation{};                 ///< kOperation
  Warp warp{};                           ///< kRotate, kAffine
  AffineMap affine{};                    ///< what the warp was made from; of a rotation its angle, counterclockwise
  std::string_view augment{};            ///< the operation that RandAugment and its like chose, in torchvision's words
  double magnitude = 0.0;                ///< of it
  std::array<double, 3> values{};        ///< kErase: what the part `box` of the finished image becomes
  std::optional<std::uint64_t> noise{};  ///< kErase: in their place, normal numbers of the stream kNoise of this seed
};

/// In the chain's order. Reused from image to image.
using Choices = std::vector<Choice>;

/// Works out `step` for an image of `size`, appends what it does to `choices` and sets `size` to that of its result.
/// Draws as torchvision does: RandomResizedCrop area and ratio up to ten times, then the top and the left edge;
/// RandomCrop the top edge, then the left, where there is a choice; what has a probability one number; ColorJitter the
/// order of what it changes, then how much, brightness first; RandomErasing area and ratio up to ten times, then the
/// top and the left edge, then the seed of its values where they are random; RandomAffine angle, shift across and down,
/// scale, shear across and down; RandAugment and its like an operation, its magnitude where that is left to chance,
/// then its sign. A fault where the image does not fit the step.
Fault choose(const Step& step, Size& size, Draw& random, Choices& choices);

/// The size that Resize gives an image; width or height may be 0 (max_size on a very long image). int64: the longer
/// side of such an image has no bound.
struct ResizedSize {
  std::int64_t width;
  std::int64_t height;
};
[[nodiscard]] ResizedSize resized(const Resize& step, Size image) noexcept;

/// The random choices only, in the chain's order: [{"crop": {"x", "y", "width", "height"}}, {"flip": true},
/// {"brightness": 1.2}, …]. A crop is in pixels of the image that its step met, and may stick out of it.
[[nodiscard]] nlohmann::json to_json(const Choices& choices);

}  // namespace feedring
