// SPDX-License-Identifier: Apache-2.0
// The transforms that a chain can hold, with their parameters as torchvision.transforms.v2 names them. Values only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "producers/decode/image.hpp"
#include "producers/transform/operation.hpp"
#include "producers/transform/weights.hpp"
#include "runtime/layout.hpp"

namespace feedring {

using Colour = std::array<std::uint8_t, 3>;

/// What stands beside an image where a crop or a padding sticks out of it: torchvision's padding modes.
enum class Edge : std::uint8_t {
  kConstant,   ///< a colour
  kEdge,       ///< the nearest pixel
  kReflect,    ///< the image mirrored at its last pixels: d c b | a b c d | c b a
  kSymmetric,  ///< the image mirrored at its edges: c b a | a b c d | d c b
};

/// "constant", "edge", "reflect", "symmetric".
[[nodiscard]] std::string_view name_of(Edge edge) noexcept;

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

struct Pad {
  Padding padding{};
  Colour fill{};
  Edge edge = Edge::kConstant;
};

struct RandomCrop {
  Size size{};
  Padding padding{};
  bool pad_if_needed = false;
  Colour fill{};
  Edge edge = Edge::kConstant;
};

struct RandomHorizontalFlip {
  double p = 0.5;
};

struct RandomVerticalFlip {
  double p = 0.5;
};

/// Grayscale(num_output_channels = 3).
struct Grayscale {};

/// RandomGrayscale, RandomInvert, RandomPosterize, RandomSolarize, RandomAdjustSharpness, RandomAutocontrast,
/// RandomEqualize: one operation, or none.
struct RandomOperation {
  Operation operation{};
  double p = 0.5;
};

struct ColorJitter {
  /// Of the factors of brightness, contrast and saturation, and of the hue's shift; nullopt leaves it alone.
  std::array<std::optional<std::array<double, 2>>, 4> ranges{};
};

struct GaussianBlur {
  Size window{};
  std::array<double, 2> sigma{0.1, 2.0};
};

struct RandomErasing {
  double p = 0.5;
  std::array<double, 2> scale{0.02, 0.33};
  std::array<double, 2> ratio{0.3, 3.3};
  std::array<double, 3> value{};
  bool noise = false;         ///< value = "random": a standard normal number for each value, in the place of `value`
  bool after_values = false;  ///< it stands behind ToDtype: what it writes are finished values
};

struct RandomRotation {
  std::array<double, 2> degrees{};
  Filter filter = Filter::kNearest;
  bool expand = false;
  std::optional<std::array<double, 2>> center{};
  Colour fill{};
};

struct RandomAffine {
  std::array<double, 2> degrees{};
  std::optional<std::array<double, 2>> translate{};  ///< the most, as shares of width and height
  std::optional<std::array<double, 2>> scale{};
  std::optional<std::array<double, 2>> shear_x{};
  std::optional<std::array<double, 2>> shear_y{};
  Filter filter = Filter::kNearest;
  Colour fill{};
  std::optional<std::array<double, 2>> center{};
};

struct ChainedStep;

/// All of its steps, or none.
struct RandomApply {
  std::vector<ChainedStep> steps;
  double p = 0.5;
};

struct RandAugment {
  std::int32_t num_ops = 2;
  std::int32_t magnitude = 9;
  std::int32_t num_magnitude_bins = 31;
  Filter filter = Filter::kNearest;
  Colour fill{};
};

struct TrivialAugmentWide {
  std::int32_t num_magnitude_bins = 31;
  Filter filter = Filter::kNearest;
  Colour fill{};
};

/// AutoAugment(AutoAugmentPolicy.IMAGENET).
struct AutoAugment {
  Filter filter = Filter::kNearest;
  Colour fill{};
};

struct Normalize {
  std::array<double, 3> mean{};
  std::array<double, 3> std{};
};

struct ToDtype {
  Dtype dtype = Dtype::kFloat32;
  bool scale = false;
};

using Step =
    std::variant<Resize, CenterCrop, RandomResizedCrop, Pad, RandomCrop, RandomHorizontalFlip, RandomVerticalFlip,
                 Grayscale, RandomOperation, ColorJitter, GaussianBlur, RandomErasing, RandomRotation, RandomAffine,
                 RandomApply, RandAugment, TrivialAugmentWide, AutoAugment, Normalize, ToDtype>;

struct ChainedStep {
  Step step;
};

/// It holds a RandomErasing of finished values.
[[nodiscard]] bool writes_values(const Step& step) noexcept;

}  // namespace feedring
