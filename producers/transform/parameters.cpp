// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <feedring/error.hpp>

#include "producers/config/suggest.hpp"

namespace feedring {
namespace {

std::string in_quotes(std::string_view word) { return '"' + std::string(word) + '"'; }

// As JSON, whatever bytes a string holds.
std::string text_of(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Parameters::Parameters(const nlohmann::json& transform, std::size_t place, std::string_view name,
                       const std::vector<std::string_view>& known)
    : json_(transform), where_("transform " + std::to_string(place) + " (" + std::string(name) + "): ") {
  for (const auto& [key, value] : transform.items()) {
    if (key == "name" || std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string suggestion = did_you_mean(key, known);
    fail("there is no parameter " + in_quotes(key) +
         (suggestion.empty() ? "; it takes " + any_of_words(known) : suggestion));
  }
}

void Parameters::fail(const std::string& what) const { throw Error(ErrorKind::kUsage, where_ + what); }

void Parameters::expected(std::string_view key, const std::string& what) const {
  fail(in_quotes(key) + " must be " + what + ", not " + text_of(json_.at(std::string(key))));
}

bool Parameters::has(std::string_view key) const {
  const auto found = json_.find(std::string(key));
  return found != json_.end() && !found->is_null();
}

const nlohmann::json& Parameters::at(std::string_view key) const {
  if (!has(key)) fail(in_quotes(key) + " is missing");
  return *json_.find(std::string(key));
}

bool Parameters::flag(std::string_view key, bool fallback) const {
  if (!has(key)) return fallback;
  if (!at(key).is_boolean()) expected(key, "true or false");
  return at(key).get<bool>();
}

double Parameters::number(std::string_view key, double fallback) const {
  if (!has(key)) return fallback;
  const std::vector<double> values = numbers(key);
  if (values.size() != 1 || at(key).is_array()) expected(key, "a number");
  return values[0];
}

std::string Parameters::word(std::string_view key) const {
  if (!at(key).is_string()) expected(key, "a string");
  return at(key).get<std::string>();
}

bool Parameters::says(std::string_view key, std::string_view word) const {
  return has(key) && at(key).is_string() && at(key).get_ref<const std::string&>() == word;
}

std::vector<double> Parameters::numbers(std::string_view key) const {
  const nlohmann::json& value = at(key);
  const nlohmann::json list = value.is_array() ? value : nlohmann::json::array({value});
  std::vector<double> numbers;
  for (const nlohmann::json& each : list) {
    if (!each.is_number() || !std::isfinite(each.get<double>())) expected(key, "a number or a list of numbers");
    numbers.push_back(each.get<double>());
  }
  return numbers;
}

std::vector<std::int32_t> Parameters::integers(std::string_view key, std::int32_t low, std::int32_t high) const {
  std::vector<std::int32_t> integers;
  for (const double value : numbers(key)) {
    if (value != std::floor(value) || value < low || value > high) {
      expected(key, "whole numbers from " + std::to_string(low) + " to " + std::to_string(high));
    }
    integers.push_back(static_cast<std::int32_t>(value));
  }
  return integers;
}

const nlohmann::json& Parameters::transforms(std::string_view key) const {
  if (!at(key).is_array() || at(key).empty()) expected(key, "a list of transforms");
  return at(key);
}

Size Parameters::size() const {
  const std::vector<std::int32_t> sides = integers("size", 1, kLargestSide);
  if (sides.size() == 1) return {sides[0], sides[0]};
  if (sides.size() != 2) expected("size", "an integer or [height, width]");
  return {sides[1], sides[0]};
}

Filter Parameters::filter() const {
  if (!flag("antialias", true)) fail("antialias = false is not offered: pictures are always resized with antialiasing");
  if (!has("interpolation")) return Filter::kBilinear;
  const std::string name = word("interpolation");
  const std::optional<Filter> filter = filter_of(name);
  if (!filter) {
    const std::vector<std::string_view> names{"nearest", "nearest-exact", "box",    "bilinear",
                                              "hamming", "bicubic",       "lanczos"};
    const std::string suggestion = did_you_mean(name, names);
    fail("there is no interpolation " + in_quotes(name) +
         (suggestion.empty() ? "; it is " + any_of_words(names) : suggestion));
  }
  return *filter;
}

Padding Parameters::padding() const {
  const std::vector<std::int32_t> pad = integers("padding", 0, kLargestSide);
  if (pad.size() == 1) return {pad[0], pad[0], pad[0], pad[0]};
  if (pad.size() == 2) return {pad[0], pad[1], pad[0], pad[1]};
  if (pad.size() == 4) return {pad[0], pad[1], pad[2], pad[3]};
  fail("\"padding\" must be an integer, [left and right, top and bottom] or [left, top, right, bottom]");
}

Colour Parameters::fill() const {
  if (!has("fill")) return {};
  const std::vector<std::int32_t> fill = integers("fill", 0, 255);
  if (fill.size() != 1 && fill.size() != 3) fail("\"fill\" must be an integer or [red, green, blue]");
  Colour colour{};
  for (std::size_t c = 0; c < 3; ++c) colour[c] = static_cast<std::uint8_t>(fill[fill.size() == 1 ? 0 : c]);
  return colour;
}

Edge Parameters::edge() const {
  if (!has("padding_mode")) return Edge::kConstant;
  static constexpr std::array kEdges{Edge::kConstant, Edge::kEdge, Edge::kReflect, Edge::kSymmetric};
  const std::string name = word("padding_mode");
  std::vector<std::string_view> names;
  for (const Edge edge : kEdges) {
    if (name == name_of(edge)) return edge;
    names.push_back(name_of(edge));
  }
  const std::string suggestion = did_you_mean(name, names);
  fail("there is no padding mode \"" + name + '"' +
       (suggestion.empty() ? "; it is " + any_of_words(names) : suggestion));
}

Filter Parameters::warp_filter() const {
  if (!has("interpolation")) return Filter::kNearest;
  const Filter asked = filter();
  if (asked != Filter::kNearest && asked != Filter::kBilinear && asked != Filter::kBicubic) {
    fail("Pillow rotates with interpolation \"nearest\", \"bilinear\" or \"bicubic\" only");
  }
  return asked;
}

double Parameters::probability(double fallback) const {
  const double p = number("p", fallback);
  if (p < 0.0 || p > 1.0) fail("\"p\" must be a probability, from 0 to 1");
  return p;
}

}  // namespace feedring
