// SPDX-License-Identifier: Apache-2.0
// What changes colours where they stand.
#include <algorithm>
#include <array>
#include <utility>

#include "producers/transform/parse_steps.hpp"

namespace feedring {
namespace {

using nlohmann::json;

// A number; it has no default.
double needed(const Parameters& from, std::string_view key) {
  if (!from.has(key)) from.fail('"' + std::string(key) + "\" is missing");
  return from.number(key, 0.0);
}

Parsed random_operation(const Parameters& from, Operation operation, double p = 0.5, json canonical = json::object()) {
  const RandomOperation step{operation, from.probability(p)};
  canonical["p"] = step.p;
  return {step, std::move(canonical)};
}

// torchvision's: a number n is [center - n, center + n], from 0 up where the bound is 0.
std::optional<std::array<double, 2>> jitter(const Parameters& from, std::string_view key, double center, double low,
                                            double high) {
  if (!from.has(key)) return std::nullopt;
  std::vector<double> range = from.numbers(key);
  if (range.size() == 1) {
    const double reach = range[0];
    range = {std::max(center - reach, center == 1.0 ? 0.0 : -1.0), center + reach};
  }
  if (range.size() != 2 || !(low <= range[0] && range[0] <= range[1] && range[1] <= high)) {
    from.fail('"' + std::string(key) + "\" must be a number from 0" + (center == 0.0 ? " to 0.5" : "") +
              ", or [from, to]" + (center == 0.0 ? " between -0.5 and 0.5" : ", neither below 0"));
  }
  if (range[0] == center && range[1] == center) return std::nullopt;
  return std::array{range[0], range[1]};
}

// A number for both ends, or [low, high].
std::array<double, 2> span_of(const Parameters& from, std::string_view key, std::array<double, 2> fallback, double low,
                              double high) {
  if (!from.has(key)) return fallback;
  std::vector<double> range = from.numbers(key);
  if (range.size() == 1) range.push_back(range[0]);
  if (range.size() != 2 || !(low <= range[0] && range[0] <= range[1] && range[1] <= high)) {
    from.fail('"' + std::string(key) + "\" must be two numbers, the smaller first, such as [" +
              json(fallback[0]).dump() + ", " + json(fallback[1]).dump() + ']');
  }
  return {range[0], range[1]};
}

}  // namespace

Parsed parse_grayscale(const Parameters& from) {
  const std::vector<std::int32_t> channels =
      from.has("num_output_channels") ? from.integers("num_output_channels", 1, 3) : std::vector{1};
  if (channels != std::vector{3}) {
    from.fail("the images of a batch have three channels: say num_output_channels = 3, torchvision's default is 1");
  }
  return {Grayscale{}, {{"num_output_channels", 3}}};
}

Parsed parse_random_grayscale(const Parameters& from) {
  return random_operation(from, {Operation::Kind::kGrayscale}, 0.1);
}

Parsed parse_random_invert(const Parameters& from) { return random_operation(from, {Operation::Kind::kInvert}); }

Parsed parse_random_posterize(const Parameters& from) {
  const std::vector<std::int32_t> bits = from.integers("bits", 0, 8);
  if (bits.size() != 1) from.fail("\"bits\" must be one integer");
  return random_operation(from, {Operation::Kind::kPosterize, static_cast<double>(bits[0])}, 0.5, {{"bits", bits[0]}});
}

Parsed parse_random_solarize(const Parameters& from) {
  const double threshold = needed(from, "threshold");
  return random_operation(from, {Operation::Kind::kSolarize, threshold}, 0.5, {{"threshold", threshold}});
}

Parsed parse_random_adjust_sharpness(const Parameters& from) {
  const double factor = needed(from, "sharpness_factor");
  if (factor < 0.0) from.fail("\"sharpness_factor\" must not be below 0");
  return random_operation(from, {Operation::Kind::kSharpness, factor}, 0.5, {{"sharpness_factor", factor}});
}

Parsed parse_random_autocontrast(const Parameters& from) {
  return random_operation(from, {Operation::Kind::kAutoContrast});
}

Parsed parse_random_equalize(const Parameters& from) { return random_operation(from, {Operation::Kind::kEqualize}); }

Parsed parse_color_jitter(const Parameters& from) {
  // A factor of 1e6 makes of every pixel what a greater one makes.
  ColorJitter step{{jitter(from, "brightness", 1.0, 0.0, 1e6), jitter(from, "contrast", 1.0, 0.0, 1e6),
                    jitter(from, "saturation", 1.0, 0.0, 1e6), jitter(from, "hue", 0.0, -0.5, 0.5)}};
  json canonical;
  static constexpr std::array<const char*, 4> kNames{"brightness", "contrast", "saturation", "hue"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto& range = step.ranges[i];
    canonical[kNames[i]] = range ? json::array({(*range)[0], (*range)[1]}) : json();
  }
  return {step, std::move(canonical)};
}

Parsed parse_gaussian_blur(const Parameters& from) {
  std::vector<std::int32_t> window = from.integers("kernel_size", 1, kLargestSide);
  if (window.size() == 1) window.push_back(window[0]);
  if (window.size() != 2 || window[0] % 2 == 0 || window[1] % 2 == 0) {
    from.fail("\"kernel_size\" must be an odd integer, or [across, down]");
  }
  GaussianBlur step;
  step.window = {window[0], window[1]};
  step.sigma = span_of(from, "sigma", step.sigma, 1e-3, 1e6);
  return {step, {{"kernel_size", {window[0], window[1]}}, {"sigma", {step.sigma[0], step.sigma[1]}}}};
}

Parsed parse_random_erasing(const Parameters& from) {
  RandomErasing step;
  step.p = from.probability(step.p);
  step.scale = span_of(from, "scale", step.scale, 0.0, 1.0);
  step.ratio = span_of(from, "ratio", step.ratio, 1e-6, 1e6);
  if (from.says("value", "random")) {
    step.noise = true;
  } else if (from.has("value")) {
    const std::vector<double> values = from.numbers("value");
    if (values.size() != 1 && values.size() != 3)
      from.fail("\"value\" must be a number, [red, green, blue] or \"random\"");
    for (std::size_t c = 0; c < 3; ++c) step.value[c] = values[values.size() == 1 ? 0 : c];
  }
  (void)from.flag("inplace", false);  // the same pixels either way
  json value = {step.value[0], step.value[1], step.value[2]};
  if (step.noise) value = "random";
  return {step,
          {{"p", step.p},
           {"scale", {step.scale[0], step.scale[1]}},
           {"ratio", {step.ratio[0], step.ratio[1]}},
           {"value", std::move(value)}}};
}

}  // namespace feedring
