// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/transform.hpp"

#include <algorithm>
#include <feedring/error.hpp>
#include <variant>

namespace feedring {

bool writes_values(const Step& step) noexcept {
  if (const auto* erasing = std::get_if<RandomErasing>(&step)) return erasing->after_values;
  const auto* apply = std::get_if<RandomApply>(&step);
  return apply != nullptr && std::any_of(apply->steps.begin(), apply->steps.end(),
                                         [](const ChainedStep& each) { return writes_values(each.step); });
}

Dtype Chain::slot_dtype(Dtype asked) const {
  if (!dtype_) return asked;
  if (asked != Dtype::kUint8 && asked != *dtype_) {
    throw Error(ErrorKind::kUsage, "the feed's dtype is " + std::string(name_of(asked)) +
                                       ", but its transforms end with " + std::string(name_of(*dtype_)) +
                                       ": leave one out, or make them equal");
  }
  return *dtype_;
}

Fault Chain::draw(Size image, Draw& random, Choices& choices) const {
  choices.clear();
  Size size = image;
  for (const Step& step : steps_) {
    if (Fault fault = choose(step, size, random, choices)) return fault;
  }
  return std::nullopt;
}

}  // namespace feedring
