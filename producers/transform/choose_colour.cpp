// SPDX-License-Identifier: Apache-2.0
// What changes colours where they stand.
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "producers/plan/exact_math.hpp"
#include "producers/transform/choose_steps.hpp"

namespace feedring {
namespace {

void operate(Operation operation, Choices& choices) {
  choices.push_back({.kind = Choice::Kind::kOperation, .operation = operation});
}

// The part to erase; nullopt where ten tries found none that is smaller than the image on both sides.
std::optional<Box> part_to_erase(const RandomErasing& step, Size image, Draw& random) {
  const double area = static_cast<double>(image.width) * image.height;
  const std::array log_ratio{exact_log(step.ratio[0]), exact_log(step.ratio[1])};
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * between(step.scale, random);
    const double aspect = exact_exp(between(log_ratio, random));
    const double height = round_half_even(std::sqrt(target * aspect));
    const double width = round_half_even(std::sqrt(target / aspect));
    if (!(height < image.height && width < image.width)) continue;
    Box box{0, 0, static_cast<std::int32_t>(width), static_cast<std::int32_t>(height)};
    box.y = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(image.height - box.height) + 1));
    box.x = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(image.width - box.width) + 1));
    return box;
  }
  return std::nullopt;
}

}  // namespace

Fault choose_for(const Grayscale& /*step*/, Size& /*size*/, Draw& /*random*/, Choices& choices) {
  operate({Operation::Kind::kGrayscale}, choices);
  return std::nullopt;
}

Fault choose_for(const RandomOperation& step, Size& /*size*/, Draw& random, Choices& choices) {
  operate(step.operation, choices);
  choices.back().random = true;
  choices.back().applied = random.uniform() < step.p;
  return std::nullopt;
}

Fault choose_for(const ColorJitter& step, Size& /*size*/, Draw& random, Choices& choices) {
  static constexpr std::array kKinds{Operation::Kind::kBrightness, Operation::Kind::kContrast,
                                     Operation::Kind::kSaturation, Operation::Kind::kHue};
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::array<double, 4> amounts{};
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (const auto& range = step.ranges[i]) amounts[i] = between(*range, random);
  }
  for (const std::size_t i : order) {
    if (!step.ranges[i]) continue;
    operate({kKinds[i], amounts[i]}, choices);
    choices.back().random = true;
  }
  return std::nullopt;
}

Fault choose_for(const GaussianBlur& step, Size& size, Draw& random, Choices& choices) {
  if (step.window.width / 2 >= size.width || step.window.height / 2 >= size.height) {
    return "GaussianBlur's kernel of " + text_of(step.window) + " is too large for " + text_of(size) +
           " pixels: half of it must be less than a side";
  }
  operate({.kind = Operation::Kind::kBlur,
           .amount = between(step.sigma, random),
           .box = {0, 0, step.window.width, step.window.height}},
          choices);
  choices.back().random = true;
  return std::nullopt;
}

Fault choose_for(const RandomErasing& step, Size& size, Draw& random, Choices& choices) {
  Choice choice{
      .kind = Choice::Kind::kErase, .random = true, .applied = random.uniform() < step.p, .values = step.value};
  if (choice.applied) {
    const std::optional<Box> box = part_to_erase(step, size, random);
    choice.applied = box.has_value();
    choice.box = box.value_or(Box{});
    if (box && step.noise) choice.noise = random.bits();
  }
  if (!step.after_values) {
    choice.kind = Choice::Kind::kOperation;
    choice.operation = {.kind = Operation::Kind::kErase, .box = choice.box};
    for (std::size_t c = 0; c < 3; ++c) choice.operation.colour[c] = static_cast<std::uint8_t>(step.value[c]);
  }
  choices.push_back(choice);
  return std::nullopt;
}

}  // namespace feedring
