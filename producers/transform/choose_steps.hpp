// SPDX-License-Identifier: Apache-2.0
// What each step draws for an image, as an overload of choose_for(); and what several of them need. Internal to this
// folder.
#pragma once

#include <array>
#include <cmath>
#include <string>

#include "producers/transform/choices.hpp"

namespace feedring {

Fault choose_for(const Resize& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const CenterCrop& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const RandomResizedCrop& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const Pad& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const RandomCrop& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const RandomHorizontalFlip& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const RandomVerticalFlip& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const Grayscale& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const RandomOperation& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const ColorJitter& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const GaussianBlur& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const RandomErasing& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const RandomRotation& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const RandomAffine& step, Size& size, Draw& random, Choices& choices);

Fault choose_for(const RandomApply& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const RandAugment& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const TrivialAugmentWide& step, Size& size, Draw& random, Choices& choices);
Fault choose_for(const AutoAugment& step, Size& size, Draw& random, Choices& choices);

/// Appends a rotation of an image of `size`, which becomes that of the result.
void rotate(const Rotation& rotation, Filter filter, const Colour& fill, Size& size, Choices& choices);
/// Appends an affine map, around `center` or else the middle of the image.
void map(const AffineMap& affine, std::optional<Point> center, Filter filter, const Colour& fill, Size size,
         Choices& choices);

inline double between(const std::array<double, 2>& range, Draw& random) noexcept {
  return range[0] + (range[1] - range[0]) * random.uniform();
}

/// Python's round(): halves go to the even neighbour.
inline double round_half_even(double x) noexcept {
  const double below = std::floor(x);
  const double rest = x - below;
  if (rest != 0.5) return rest < 0.5 ? below : below + 1.0;
  return std::floor(below / 2.0) * 2.0 == below ? below : below + 1.0;
}

inline std::string text_of(Size size) { return std::to_string(size.width) + " x " + std::to_string(size.height); }

}  // namespace feedring
