// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/transform.hpp"

#include <algorithm>
#include <feedring/error.hpp>
#include <variant>

namespace feedring {
namespace {

// Of each kind of step: does it choose which pixels there are, and is it drawn?
struct Nature {
  bool geometric;
  bool random;
};
constexpr Nature nature(const Resize&) { return {true, false}; }
constexpr Nature nature(const CenterCrop&) { return {true, false}; }
constexpr Nature nature(const Pad&) { return {true, false}; }
constexpr Nature nature(const RandomResizedCrop&) { return {true, true}; }
constexpr Nature nature(const RandomCrop&) { return {true, true}; }
constexpr Nature nature(const RandomHorizontalFlip&) { return {false, true}; }
constexpr Nature nature(const RandomVerticalFlip&) { return {false, true}; }
constexpr Nature nature(const Grayscale&) { return {false, false}; }
constexpr Nature nature(const RandomOperation&) { return {false, true}; }
constexpr Nature nature(const ColorJitter&) { return {false, true}; }
constexpr Nature nature(const GaussianBlur&) { return {false, true}; }
constexpr Nature nature(const RandomErasing&) { return {false, true}; }
constexpr Nature nature(const RandomRotation&) { return {true, true}; }
constexpr Nature nature(const RandomAffine&) { return {true, true}; }
// They may turn and shear.
constexpr Nature nature(const RandAugment&) { return {true, true}; }
constexpr Nature nature(const TrivialAugmentWide&) { return {true, true}; }
constexpr Nature nature(const AutoAugment&) { return {true, true}; }
constexpr Nature nature(const Normalize&) { return {false, false}; }
constexpr Nature nature(const ToDtype&) { return {false, false}; }

Nature nature_of(const Step& step);

Nature nature(const RandomApply& apply) {
  return {std::any_of(apply.steps.begin(), apply.steps.end(),
                      [](const ChainedStep& each) { return nature_of(each.step).geometric; }),
          true};
}

Nature nature_of(const Step& step) {
  return std::visit([](const auto& each) { return nature(each); }, step);
}

}  // namespace

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

std::size_t Chain::geometric_steps() const noexcept {
  std::size_t count = steps_.size();
  while (count > 0 && !nature_of(steps_[count - 1]).geometric) --count;
  return count;
}

std::optional<std::size_t> Chain::random_step() const noexcept {
  const std::size_t count = geometric_steps();
  for (std::size_t i = 0; i < count; ++i) {
    if (nature_of(steps_[i]).random) return i;
  }
  return std::nullopt;
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
