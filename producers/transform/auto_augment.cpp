// SPDX-License-Identifier: Apache-2.0
// RandAugment, TrivialAugmentWide and AutoAugment: which operations, and how strong, by torchvision's tables.
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>

#include "producers/transform/choose_steps.hpp"

namespace feedring {
namespace {

enum class Kind : std::uint8_t {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
  kInvert,  // of AutoAugment alone
};
constexpr std::array<std::string_view, 15> kNames{"Identity",  "ShearX",     "ShearY",       "TranslateX", "TranslateY",
                                                  "Rotate",    "Brightness", "Color",        "Contrast",   "Sharpness",
                                                  "Posterize", "Solarize",   "AutoContrast", "Equalize",   "Invert"};
constexpr std::size_t kDrawn = 14;  // Identity to Equalize: what RandAugment and TrivialAugmentWide choose from

// The greatest magnitudes.
struct Space {
  double shear;
  double shift_x;  ///< in pixels
  double shift_y;
  double degrees;
  double factor;  ///< beside 1
  int bits;       ///< that Posterize drops
};

Space narrow_space(Size image) noexcept {
  return {0.3, 150.0 / 331.0 * image.width, 150.0 / 331.0 * image.height, 30.0, 0.9, 4};
}
constexpr Space kWideSpace{0.99, 32.0, 32.0, 135.0, 0.99, 6};

// torch.linspace(start, end, bins)[index], which counts from the nearer end, in float.
double at_bin(double start, double end, std::int32_t bins, std::int32_t index) noexcept {
  const auto low = static_cast<float>(start);
  const auto high = static_cast<float>(end);
  const float step = (high - low) / static_cast<float>(bins - 1);
  if (index < bins / 2) return low + step * static_cast<float>(index);
  return high - step * static_cast<float>(bins - index - 1);
}

struct Magnitude {
  double value;
  bool is_signed;
};

std::optional<Magnitude> magnitude_of(Kind kind, const Space& space, std::int32_t bins, std::int32_t index) noexcept {
  const auto to = [&](double end) { return Magnitude{at_bin(0.0, end, bins, index), true}; };
  switch (kind) {
    case Kind::kShearX:
    case Kind::kShearY: return to(space.shear);
    case Kind::kTranslateX: return to(space.shift_x);
    case Kind::kTranslateY: return to(space.shift_y);
    case Kind::kRotate: return to(space.degrees);
    case Kind::kBrightness:
    case Kind::kColor:
    case Kind::kContrast:
    case Kind::kSharpness: return to(space.factor);
    case Kind::kPosterize: {
      const auto dropped = static_cast<float>(index / (static_cast<double>(bins - 1) / space.bits));
      return Magnitude{round_half_even(8.0F - dropped), false};
    }
    case Kind::kSolarize: return Magnitude{at_bin(1.0, 0.0, bins, index), false};
    default: return std::nullopt;
  }
}

struct Look {
  Filter filter;
  const Colour& fill;
};

void shear(Point by, const Look& look, Size size, Choices& choices) {
  for (double& each : by) each = std::atan(each) * (180.0 / std::numbers::pi);
  map({.shear = by}, Point{0.0, 0.0}, look.filter, look.fill, size, choices);
}

void shift(Point by, const Look& look, Size size, Choices& choices) {
  map({.translate = {std::trunc(by[0]), std::trunc(by[1])}}, std::nullopt, look.filter, look.fill, size, choices);
}

void augment(Kind kind, double magnitude, const Look& look, Size& size, Choices& choices) {
  const auto operate = [&](Operation::Kind operation, double amount = 0.0) {
    choices.push_back({.kind = Choice::Kind::kOperation, .operation = {operation, amount}});
  };
  switch (kind) {
    case Kind::kIdentity: choices.push_back({.kind = Choice::Kind::kNothing}); break;
    case Kind::kShearX: shear({magnitude, 0.0}, look, size, choices); break;
    case Kind::kShearY: shear({0.0, magnitude}, look, size, choices); break;
    case Kind::kTranslateX: shift({magnitude, 0.0}, look, size, choices); break;
    case Kind::kTranslateY: shift({0.0, magnitude}, look, size, choices); break;
    case Kind::kRotate: rotate({.degrees = magnitude}, look.filter, look.fill, size, choices); break;
    case Kind::kBrightness: operate(Operation::Kind::kBrightness, 1.0 + magnitude); break;
    case Kind::kColor: operate(Operation::Kind::kSaturation, 1.0 + magnitude); break;
    case Kind::kContrast: operate(Operation::Kind::kContrast, 1.0 + magnitude); break;
    case Kind::kSharpness: operate(Operation::Kind::kSharpness, 1.0 + magnitude); break;
    case Kind::kPosterize: operate(Operation::Kind::kPosterize, magnitude); break;
    case Kind::kSolarize: operate(Operation::Kind::kSolarize, 255.0 * magnitude); break;
    case Kind::kAutoContrast: operate(Operation::Kind::kAutoContrast); break;
    case Kind::kEqualize: operate(Operation::Kind::kEqualize); break;
    case Kind::kInvert: operate(Operation::Kind::kInvert); break;
  }
  choices.back().random = true;
  choices.back().augment = kNames[static_cast<std::size_t>(kind)];
  choices.back().magnitude = magnitude;
}

// With the sign drawn where there is one.
void augment(Kind kind, std::optional<Magnitude> magnitude, const Look& look, Size& size, Draw& random,
             Choices& choices) {
  double value = magnitude ? magnitude->value : 0.0;
  if (magnitude && magnitude->is_signed && random.uniform() < 0.5) value = -value;
  augment(kind, value, look, size, choices);
}

struct Part {
  Kind kind;
  double p;
  std::int32_t index = 0;
};
// torchvision's AutoAugmentPolicy.IMAGENET.
constexpr std::array<std::array<Part, 2>, 25> kImageNet{{
    {{{Kind::kPosterize, 0.4, 8}, {Kind::kRotate, 0.6, 9}}}, {{{Kind::kSolarize, 0.6, 5}, {Kind::kAutoContrast, 0.6}}},
    {{{Kind::kEqualize, 0.8}, {Kind::kEqualize, 0.6}}},      {{{Kind::kPosterize, 0.6, 7}, {Kind::kPosterize, 0.6, 6}}},
    {{{Kind::kEqualize, 0.4}, {Kind::kSolarize, 0.2, 4}}},   {{{Kind::kEqualize, 0.4}, {Kind::kRotate, 0.8, 8}}},
    {{{Kind::kSolarize, 0.6, 3}, {Kind::kEqualize, 0.6}}},   {{{Kind::kPosterize, 0.8, 5}, {Kind::kEqualize, 1.0}}},
    {{{Kind::kRotate, 0.2, 3}, {Kind::kSolarize, 0.6, 8}}},  {{{Kind::kEqualize, 0.6}, {Kind::kPosterize, 0.4, 6}}},
    {{{Kind::kRotate, 0.8, 8}, {Kind::kColor, 0.4, 0}}},     {{{Kind::kRotate, 0.4, 9}, {Kind::kEqualize, 0.6}}},
    {{{Kind::kEqualize, 0.0}, {Kind::kEqualize, 0.8}}},      {{{Kind::kInvert, 0.6}, {Kind::kEqualize, 1.0}}},
    {{{Kind::kColor, 0.6, 4}, {Kind::kContrast, 1.0, 8}}},   {{{Kind::kRotate, 0.8, 8}, {Kind::kColor, 1.0, 2}}},
    {{{Kind::kColor, 0.8, 8}, {Kind::kSolarize, 0.8, 7}}},   {{{Kind::kSharpness, 0.4, 7}, {Kind::kInvert, 0.6}}},
    {{{Kind::kShearX, 0.6, 5}, {Kind::kEqualize, 1.0}}},     {{{Kind::kColor, 0.4, 0}, {Kind::kEqualize, 0.6}}},
    {{{Kind::kEqualize, 0.4}, {Kind::kSolarize, 0.2, 4}}},   {{{Kind::kSolarize, 0.6, 5}, {Kind::kAutoContrast, 0.6}}},
    {{{Kind::kInvert, 0.6}, {Kind::kEqualize, 1.0}}},        {{{Kind::kColor, 0.6, 4}, {Kind::kContrast, 1.0, 8}}},
    {{{Kind::kEqualize, 0.8}, {Kind::kEqualize, 0.6}}},
}};

}  // namespace

Fault choose_for(const RandAugment& step, Size& size, Draw& random, Choices& choices) {
  for (std::int32_t i = 0; i < step.num_ops; ++i) {
    const auto kind = static_cast<Kind>(random.below(kDrawn));
    const std::optional<Magnitude> magnitude =
        magnitude_of(kind, narrow_space(size), step.num_magnitude_bins, step.magnitude);
    augment(kind, magnitude, {step.filter, step.fill}, size, random, choices);
  }
  return std::nullopt;
}

Fault choose_for(const TrivialAugmentWide& step, Size& size, Draw& random, Choices& choices) {
  const auto kind = static_cast<Kind>(random.below(kDrawn));
  const std::int32_t bins = step.num_magnitude_bins;
  std::optional<Magnitude> magnitude = magnitude_of(kind, kWideSpace, bins, 0);
  if (magnitude) {
    const auto index = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(bins)));
    magnitude = magnitude_of(kind, kWideSpace, bins, index);
  }
  augment(kind, magnitude, {step.filter, step.fill}, size, random, choices);
  return std::nullopt;
}

Fault choose_for(const AutoAugment& step, Size& size, Draw& random, Choices& choices) {
  for (const Part& part : kImageNet[random.below(kImageNet.size())]) {
    if (random.uniform() >= part.p) continue;
    augment(part.kind, magnitude_of(part.kind, narrow_space(size), 10, part.index), {step.filter, step.fill}, size,
            random, choices);
  }
  return std::nullopt;
}

}  // namespace feedring
