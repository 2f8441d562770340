// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/choices.hpp"

#include <string>

#include "producers/transform/choose_steps.hpp"

namespace feedring {
namespace {

// Values, not geometry: the same for every image.
Fault choose_for(const Normalize&, Size&, Draw&, Choices&) { return std::nullopt; }
Fault choose_for(const ToDtype&, Size&, Draw&, Choices&) { return std::nullopt; }

nlohmann::json to_json(Box box) { return {{"x", box.x}, {"y", box.y}, {"width", box.width}, {"height", box.height}}; }

nlohmann::json to_json(const AffineMap& map) {
  return {{"angle", map.angle}, {"translate", map.translate}, {"scale", map.scale}, {"shear", map.shear}};
}

nlohmann::json to_json(const Choice& choice) {
  const std::string name(name_of(choice.operation.kind));
  switch (choice.operation.kind) {
    case Operation::Kind::kBrightness:
    case Operation::Kind::kContrast:
    case Operation::Kind::kSaturation:
    case Operation::Kind::kBlur:
    case Operation::Kind::kHue: return {{name, choice.operation.amount}};
    case Operation::Kind::kErase: return {{name, choice.applied ? to_json(choice.box) : nlohmann::json()}};
    default: return {{name, choice.applied}};  // how much is a parameter
  }
}

}  // namespace

Fault choose_for(const RandomApply& step, Size& size, Draw& random, Choices& choices) {
  const bool applied = random.uniform() < step.p;
  choices.push_back({.kind = Choice::Kind::kApply, .random = true, .applied = applied});
  if (!applied) return std::nullopt;
  for (const ChainedStep& each : step.steps) {
    if (Fault fault = choose(each.step, size, random, choices)) return fault;
  }
  return std::nullopt;
}

Fault choose(const Step& step, Size& size, Draw& random, Choices& choices) {
  return std::visit([&](const auto& each) { return choose_for(each, size, random, choices); }, step);
}

nlohmann::json to_json(const Choices& choices) {
  nlohmann::json json = nlohmann::json::array();
  for (const Choice& choice : choices) {
    if (!choice.random) continue;
    if (!choice.augment.empty()) {
      json.push_back({{"augment", {{"op", std::string(choice.augment)}, {"magnitude", choice.magnitude}}}});
      continue;
    }
    switch (choice.kind) {
      case Choice::Kind::kCrop: json.push_back({{"crop", to_json(choice.box)}}); break;
      case Choice::Kind::kFlip: json.push_back({{"flip", choice.applied}}); break;
      case Choice::Kind::kVerticalFlip: json.push_back({{"vertical_flip", choice.applied}}); break;
      case Choice::Kind::kOperation: json.push_back(to_json(choice)); break;
      case Choice::Kind::kErase:
        json.push_back({{"erase", choice.applied ? to_json(choice.box) : nlohmann::json()}});
        break;
      case Choice::Kind::kRotate: json.push_back({{"rotate", choice.affine.angle}}); break;
      case Choice::Kind::kAffine: json.push_back({{"affine", to_json(choice.affine)}}); break;
      case Choice::Kind::kApply: json.push_back({{"apply", choice.applied}}); break;
      case Choice::Kind::kNothing:
      case Choice::Kind::kResize: break;  // its parameters say all of it
    }
  }
  return json;
}

}  // namespace feedring
