// SPDX-License-Identifier: Apache-2.0
// Changes of an image's pixels where they stand, with their parameters drawn. Values only.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "producers/decode/image.hpp"

namespace feedring {

/// One of Pillow's functions that torchvision calls, under torchvision's name for it.
struct Operation {
  enum class Kind : std::uint8_t {
    kGrayscale,
    kSolarize,
    kInvert,
    kPosterize,
    kAutoContrast,
    kEqualize,
    kBrightness,
    kContrast,
    kSaturation,
    kHue,
    kSharpness,
    kBlur,
    kErase,
  };
  Kind kind = Kind::kGrayscale;
  /// kSolarize: the lowest value that is inverted. kPosterize: how many bits of a value stay. kHue: the shift as a
  /// share of the circle, from -0.5 to 0.5. kBrightness, kContrast, kSaturation, kSharpness: the factor.
  /// kBlur: the standard deviation, in pixels.
  double amount = 0.0;
  Box box{};  ///< kBlur: the size of the window. kErase: the part of the image, which may be empty
  std::array<std::uint8_t, 3> colour{};  ///< kErase: what it becomes
  bool operator==(const Operation&) const = default;
};

/// "grayscale", "solarize", …
[[nodiscard]] std::string_view name_of(Operation::Kind kind) noexcept;

/// What becomes of a pixel depends on that pixel only: the operation may be done on a part of the image.
[[nodiscard]] bool is_pointwise(Operation::Kind kind) noexcept;

/// It makes no difference whether the image is flipped before or after.
[[nodiscard]] bool ignores_flips(Operation::Kind kind) noexcept;

}  // namespace feedring
