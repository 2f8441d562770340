// SPDX-License-Identifier: Apache-2.0
// Rotations and affine maps.
#include <array>
#include <optional>

#include "producers/transform/parse_steps.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using Range = std::array<double, 2>;

json list(const std::optional<Range>& range) { return range ? json::array({(*range)[0], (*range)[1]}) : json(); }
json list(const Colour& colour) { return json::array({colour[0], colour[1], colour[2]}); }

// torchvision's angles: a number n is [-n, n].
Range angles(const Parameters& from, std::string_view key) {
  const std::vector<double> given = from.numbers(key);
  if (given.size() == 1 && given[0] >= 0.0) return {-given[0], given[0]};
  if (given.size() == 2 && given[0] <= given[1]) return {given[0], given[1]};
  from.fail('"' + std::string(key) + "\" must be a number of degrees, not below 0, or [from, to]");
}

std::optional<Range> pair(const Parameters& from, std::string_view key, double low, double high) {
  if (!from.has(key)) return std::nullopt;
  const std::vector<double> given = from.numbers(key);
  if (given.size() == 2 && given[0] >= low && given[0] <= high && given[1] >= low && given[1] <= high) {
    return Range{given[0], given[1]};
  }
  from.fail('"' + std::string(key) + "\" must be two numbers from " + json(low).dump() + " to " + json(high).dump());
}

std::optional<Range> center(const Parameters& from) { return pair(from, "center", -kLargestSide, kLargestSide); }

}  // namespace

Parsed parse_random_rotation(const Parameters& from) {
  const RandomRotation step{angles(from, "degrees"), from.warp_filter(), from.flag("expand", false), center(from),
                            from.fill()};
  return {step,
          {{"degrees", list(step.degrees)},
           {"interpolation", name_of(step.filter)},
           {"expand", step.expand},
           {"center", list(step.center)},
           {"fill", list(step.fill)}}};
}

Parsed parse_random_affine(const Parameters& from) {
  RandomAffine step{.degrees = angles(from, "degrees"),
                    .translate = pair(from, "translate", 0.0, 1.0),
                    .scale = pair(from, "scale", 1e-3, 1e3),
                    .filter = from.warp_filter(),
                    .fill = from.fill(),
                    .center = center(from)};
  if (from.has("shear")) {
    const std::vector<double> given = from.numbers("shear");
    if (given.size() == 4) {
      if (given[0] > given[1] || given[2] > given[3]) from.fail("\"shear\" must be [from, to] across, then down");
      step.shear_x = Range{given[0], given[1]};
      step.shear_y = Range{given[2], given[3]};
    } else {
      step.shear_x = angles(from, "shear");
    }
  }
  return {step,
          {{"degrees", list(step.degrees)},
           {"translate", list(step.translate)},
           {"scale", list(step.scale)},
           {"shear", {list(step.shear_x), list(step.shear_y)}},
           {"interpolation", name_of(step.filter)},
           {"fill", list(step.fill)},
           {"center", list(step.center)}}};
}

}  // namespace feedring
