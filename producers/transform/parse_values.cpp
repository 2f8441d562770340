// SPDX-License-Identifier: Apache-2.0
// What decides the values and their type.
#include <array>

#include "producers/config/suggest.hpp"
#include "producers/transform/parse_steps.hpp"

namespace feedring {
namespace {

using nlohmann::json;

json list(const std::array<double, 3>& values) { return json::array({values[0], values[1], values[2]}); }

std::array<double, 3> per_channel(const Parameters& from, std::string_view key) {
  const std::vector<double> values = from.numbers(key);
  if (values.size() == 1) return {values[0], values[0], values[0]};
  if (values.size() != 3) from.fail('"' + std::string(key) + "\" must be three numbers, for red, green and blue");
  return {values[0], values[1], values[2]};
}

}  // namespace

Parsed parse_normalize(const Parameters& from) {
  const Normalize step{per_channel(from, "mean"), per_channel(from, "std")};
  for (const double deviation : step.std) {
    if (deviation == 0.0) from.fail("\"std\" must not hold 0: it is divided by");
  }
  return {step, {{"mean", list(step.mean)}, {"std", list(step.std)}}};
}

Parsed parse_to_dtype(const Parameters& from) {
  const std::string name = from.word("dtype");
  std::vector<std::string_view> names;
  for (const Dtype dtype : kImageDtypes) {
    names.push_back(name_of(dtype));
    if (name != name_of(dtype)) continue;
    const ToDtype step{dtype, from.flag("scale", false)};
    return {step, {{"dtype", name}, {"scale", step.scale}}};
  }
  const std::string suggestion = did_you_mean(name, names);
  from.fail("there is no dtype \"" + name + '"' + (suggestion.empty() ? "; it is " + any_of_words(names) : suggestion));
}

}  // namespace feedring
