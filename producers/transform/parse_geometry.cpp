// SPDX-License-Identifier: Apache-2.0
// What decides where pixels come from: sizes, crops, paddings, flips.
#include "producers/transform/parse_steps.hpp"

namespace feedring {
namespace {

using nlohmann::json;

json list(Size size) { return json::array({size.height, size.width}); }
json list(const std::array<double, 2>& range) { return json::array({range[0], range[1]}); }
json list(const Colour& colour) { return json::array({colour[0], colour[1], colour[2]}); }
json list(const Padding& pad) { return json::array({pad.left, pad.top, pad.right, pad.bottom}); }

// Two positive numbers, the smaller first.
std::array<double, 2> range(const Parameters& from, std::string_view key, std::array<double, 2> fallback) {
  if (!from.has(key)) return fallback;
  const std::vector<double> bounds = from.numbers(key);
  if (bounds.size() != 2 || !(bounds[0] > 0) || bounds[0] > bounds[1] || bounds[1] > 1e6 || bounds[0] < 1e-6) {
    from.fail('"' + std::string(key) + "\" must be two positive numbers, the smaller first, such as [0.5, 1.5]");
  }
  return {bounds[0], bounds[1]};
}

template <class Flip>
Parsed parse_flip(const Parameters& from) {
  const Flip step{from.probability(0.5)};
  return {step, {{"p", step.p}}};
}

}  // namespace

Parsed parse_resize(const Parameters& from) {
  Resize step;
  step.filter = from.filter();
  if (from.has("size")) {
    const std::vector<std::int32_t> sides = from.integers("size", 1, kLargestSide);
    if (sides.size() == 1) {
      step.shorter = sides[0];
    } else {
      step.exact = from.size();
    }
  }
  if (from.has("max_size")) {
    if (step.exact) from.fail("\"max_size\" goes with a size that is one integer, not with [height, width]");
    const std::vector<std::int32_t> longest = from.integers("max_size", 1, kLargestSide);
    if (longest.size() != 1) from.fail("\"max_size\" must be one integer");
    step.max_size = longest[0];
    if (step.shorter && *step.max_size <= *step.shorter) from.fail("\"max_size\" must be greater than \"size\"");
  } else if (!from.has("size")) {
    from.fail("\"size\" is missing: an integer for the shorter side, or [height, width]");
  }
  const json size = step.exact ? list(*step.exact) : step.shorter ? json(*step.shorter) : json();
  return {step,
          {{"size", size},
           {"interpolation", name_of(step.filter)},
           {"max_size", step.max_size ? json(*step.max_size) : json()},
           {"antialias", true}}};
}

Parsed parse_center_crop(const Parameters& from) {
  const CenterCrop step{from.size()};
  return {step, {{"size", list(step.size)}}};
}

Parsed parse_random_resized_crop(const Parameters& from) {
  RandomResizedCrop step;
  step.size = from.size();
  step.scale = range(from, "scale", step.scale);
  step.ratio = range(from, "ratio", step.ratio);
  step.filter = from.filter();
  return {step,
          {{"size", list(step.size)},
           {"scale", list(step.scale)},
           {"ratio", list(step.ratio)},
           {"interpolation", name_of(step.filter)},
           {"antialias", true}}};
}

Parsed parse_pad(const Parameters& from) {
  const Pad step{from.padding(), from.fill(), from.edge()};
  return {step, {{"padding", list(step.padding)}, {"fill", list(step.fill)}, {"padding_mode", name_of(step.edge)}}};
}

Parsed parse_random_crop(const Parameters& from) {
  RandomCrop step;
  step.size = from.size();
  step.pad_if_needed = from.flag("pad_if_needed", false);
  if (from.has("padding")) step.padding = from.padding();
  step.fill = from.fill();
  step.edge = from.edge();
  return {step,
          {{"size", list(step.size)},
           {"padding", list(step.padding)},
           {"pad_if_needed", step.pad_if_needed},
           {"fill", list(step.fill)},
           {"padding_mode", name_of(step.edge)}}};
}

Parsed parse_horizontal_flip(const Parameters& from) { return parse_flip<RandomHorizontalFlip>(from); }
Parsed parse_vertical_flip(const Parameters& from) { return parse_flip<RandomVerticalFlip>(from); }

}  // namespace feedring
