// SPDX-License-Identifier: Apache-2.0
// The transforms that a chain can hold, with their parameters as torchvision.transforms.v2 names them. Values only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "producers/decode/image.hpp"
#include "producers/transform/weights.hpp"
#include "runtime/layout.hpp"

namespace feedring {

using Colour = std::array<std::uint8_t, 3>;

/// Exactly one of `exact` and (`shorter` or `max_size`) says the size.
struct Resize {
  std::optional<Size> exact{};             ///< size = [h, w]
  std::optional<std::int32_t> shorter{};   ///< size = int: the shorter side
  std::optional<std::int32_t> max_size{};  ///< bound of the longer side; alone: its length
  Filter filter = Filter::kBilinear;
};

struct CenterCrop {
  Size size{};
};

struct RandomResizedCrop {
  Size size{};
  std::array<double, 2> scale{0.08, 1.0};
  std::array<double, 2> ratio{3.0 / 4.0, 4.0 / 3.0};
  Filter filter = Filter::kBilinear;
};

struct Padding {
  std::int32_t left = 0, top = 0, right = 0, bottom = 0;
};

struct RandomCrop {
  Size size{};
  Padding padding{};
  bool pad_if_needed = false;
  Colour fill{};
};

struct RandomHorizontalFlip {
  double p = 0.5;
};

struct Normalize {
  std::array<double, 3> mean{};
  std::array<double, 3> std{};
};

struct ToDtype {
  Dtype dtype = Dtype::kFloat32;
  bool scale = false;
};

using Step = std::variant<Resize, CenterCrop, RandomResizedCrop, RandomCrop, RandomHorizontalFlip, Normalize, ToDtype>;

}  // namespace feedring
