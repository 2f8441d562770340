// SPDX-License-Identifier: Apache-2.0
// Rotations and affine maps.
#include "producers/transform/choose_steps.hpp"
#include "producers/transform/warp_matrix.hpp"

namespace feedring {

void rotate(const Rotation& rotation, Filter filter, const Colour& fill, Size& size, Choices& choices) {
  Choice choice{
      .kind = Choice::Kind::kRotate, .warp = {.filter = filter, .fill = fill}, .affine = {.angle = rotation.degrees}};
  choice.warp.matrix = matrix_of(rotation, size, choice.size, choice.warp.filter);
  size = choice.size;
  choices.push_back(choice);
}

void map(const AffineMap& affine, std::optional<Point> center, Filter filter, const Colour& fill, Size size,
         Choices& choices) {
  choices.push_back({.kind = Choice::Kind::kAffine,
                     .size = size,
                     .warp = {matrix_of(affine, size, center), filter, fill},
                     .affine = affine});
}

Fault choose_for(const RandomRotation& step, Size& size, Draw& random, Choices& choices) {
  rotate({between(step.degrees, random), step.expand, step.center}, step.filter, step.fill, size, choices);
  choices.back().random = true;
  return std::nullopt;
}

Fault choose_for(const RandomAffine& step, Size& size, Draw& random, Choices& choices) {
  AffineMap affine{.angle = between(step.degrees, random)};
  if (step.translate) {
    const double x = (*step.translate)[0] * size.width;
    const double y = (*step.translate)[1] * size.height;
    affine.translate[0] = round_half_even(between({-x, x}, random));
    affine.translate[1] = round_half_even(between({-y, y}, random));
  }
  if (step.scale) affine.scale = between(*step.scale, random);
  if (step.shear_x) affine.shear[0] = between(*step.shear_x, random);
  if (step.shear_y) affine.shear[1] = between(*step.shear_y, random);
  map(affine, step.center, step.filter, step.fill, size, choices);
  choices.back().random = true;
  return std::nullopt;
}

}  // namespace feedring
