// SPDX-License-Identifier: Apache-2.0
// RandAugment, TrivialAugmentWide and AutoAugment.
#include "producers/transform/parse_steps.hpp"

namespace feedring {
namespace {

using nlohmann::json;

std::int32_t count(const Parameters& from, std::string_view key, std::int32_t fallback, std::int32_t low,
                   std::int32_t high) {
  if (!from.has(key)) return fallback;
  const std::vector<std::int32_t> given = from.integers(key, low, high);
  if (given.size() != 1) from.fail('"' + std::string(key) + "\" must be one integer");
  return given[0];
}

// The magnitudes are 2 to 1000 steps; more could not be told apart.
std::int32_t bins(const Parameters& from) { return count(from, "num_magnitude_bins", 31, 2, 1000); }

json list(const Colour& colour) { return json::array({colour[0], colour[1], colour[2]}); }

}  // namespace

Parsed parse_rand_augment(const Parameters& from) {
  RandAugment step{.filter = from.warp_filter(), .fill = from.fill()};
  step.num_magnitude_bins = bins(from);
  step.num_ops = count(from, "num_ops", step.num_ops, 0, 100);
  step.magnitude = count(from, "magnitude", step.magnitude, 0, 1000);
  if (step.magnitude >= step.num_magnitude_bins) from.fail("\"magnitude\" must be less than \"num_magnitude_bins\"");
  return {step,
          {{"num_ops", step.num_ops},
           {"magnitude", step.magnitude},
           {"num_magnitude_bins", step.num_magnitude_bins},
           {"interpolation", name_of(step.filter)},
           {"fill", list(step.fill)}}};
}

Parsed parse_trivial_augment_wide(const Parameters& from) {
  const TrivialAugmentWide step{bins(from), from.warp_filter(), from.fill()};
  return {step,
          {{"num_magnitude_bins", step.num_magnitude_bins},
           {"interpolation", name_of(step.filter)},
           {"fill", list(step.fill)}}};
}

Parsed parse_auto_augment(const Parameters& from) {
  if (from.has("policy") && from.word("policy") != "imagenet") from.fail("\"policy\" can only be \"imagenet\"");
  const AutoAugment step{from.warp_filter(), from.fill()};
  return {step, {{"policy", "imagenet"}, {"interpolation", name_of(step.filter)}, {"fill", list(step.fill)}}};
}

}  // namespace feedring
