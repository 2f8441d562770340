// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/operation.hpp"

namespace feedring {

std::string_view name_of(Operation::Kind kind) noexcept {
  switch (kind) {
    case Operation::Kind::kGrayscale: return "grayscale";
    case Operation::Kind::kSolarize: return "solarize";
    case Operation::Kind::kInvert: return "invert";
    case Operation::Kind::kPosterize: return "posterize";
    case Operation::Kind::kAutoContrast: return "autocontrast";
    case Operation::Kind::kEqualize: return "equalize";
    case Operation::Kind::kBrightness: return "brightness";
    case Operation::Kind::kContrast: return "contrast";
    case Operation::Kind::kSaturation: return "saturation";
    case Operation::Kind::kHue: return "hue";
    case Operation::Kind::kSharpness: return "sharpness";
    case Operation::Kind::kBlur: return "blur";
    case Operation::Kind::kErase: break;
  }
  return "erase";
}

bool is_pointwise(Operation::Kind kind) noexcept {
  switch (kind) {
    case Operation::Kind::kAutoContrast:
    case Operation::Kind::kEqualize:
    case Operation::Kind::kContrast:  // the mean of all pixels
    case Operation::Kind::kSharpness:
    case Operation::Kind::kBlur:
    case Operation::Kind::kErase: return false;
    default: return true;
  }
}

bool ignores_flips(Operation::Kind kind) noexcept {
  // A sum of neighbours in float depends on their order.
  return kind != Operation::Kind::kSharpness && kind != Operation::Kind::kBlur && kind != Operation::Kind::kErase;
}

}  // namespace feedring
