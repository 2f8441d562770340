// SPDX-License-Identifier: Apache-2.0
// JSON -> the steps of a chain, each with its canonical form.
#include <algorithm>
#include <cmath>
#include <feedring/error.hpp>
#include <utility>

#include "producers/config/suggest.hpp"
#include "producers/transform/choices.hpp"
#include "producers/transform/parse_steps.hpp"
#include "producers/transform/transform.hpp"

namespace feedring {
namespace {

using nlohmann::json;

struct Kind {
  std::string_view name;
  std::vector<std::string_view> parameters;
  Parsed (*parse)(const Parameters&);  ///< null: RandomApply, which holds transforms
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kinds{
      {"Resize", {"size", "interpolation", "max_size", "antialias"}, parse_resize},
      {"CenterCrop", {"size"}, parse_center_crop},
      {"RandomResizedCrop", {"size", "scale", "ratio", "interpolation", "antialias"}, parse_random_resized_crop},
      {"Pad", {"padding", "fill", "padding_mode"}, parse_pad},
      {"RandomCrop", {"size", "padding", "pad_if_needed", "fill", "padding_mode"}, parse_random_crop},
      {"RandomHorizontalFlip", {"p"}, parse_horizontal_flip},
      {"RandomVerticalFlip", {"p"}, parse_vertical_flip},
      {"Grayscale", {"num_output_channels"}, parse_grayscale},
      {"RandomGrayscale", {"p"}, parse_random_grayscale},
      {"RandomInvert", {"p"}, parse_random_invert},
      {"RandomPosterize", {"bits", "p"}, parse_random_posterize},
      {"RandomSolarize", {"threshold", "p"}, parse_random_solarize},
      {"RandomAdjustSharpness", {"sharpness_factor", "p"}, parse_random_adjust_sharpness},
      {"RandomAutocontrast", {"p"}, parse_random_autocontrast},
      {"RandomEqualize", {"p"}, parse_random_equalize},
      {"ColorJitter", {"brightness", "contrast", "saturation", "hue"}, parse_color_jitter},
      {"GaussianBlur", {"kernel_size", "sigma"}, parse_gaussian_blur},
      {"RandomErasing", {"p", "scale", "ratio", "value", "inplace"}, parse_random_erasing},
      {"RandomRotation", {"degrees", "interpolation", "expand", "center", "fill"}, parse_random_rotation},
      {"RandomAffine",
       {"degrees", "translate", "scale", "shear", "interpolation", "fill", "center"},
       parse_random_affine},
      {"RandomApply", {"transforms", "p"}, nullptr},
      {"RandAugment", {"num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill"}, parse_rand_augment},
      {"TrivialAugmentWide", {"num_magnitude_bins", "interpolation", "fill"}, parse_trivial_augment_wide},
      {"AutoAugment", {"policy", "interpolation", "fill"}, parse_auto_augment},
      {"Normalize", {"mean", "std"}, parse_normalize},
      {"ToDtype", {"dtype", "scale"}, parse_to_dtype}};
  return kinds;
}

std::string unknown(std::string_view name) {
  for (const std::string_view conversion : {"ToTensor", "ToImage", "PILToTensor"}) {
    if (name == conversion) {
      return "is not needed, since images are tensors from the start: leave it out, and add { name = \"ToDtype\", "
             "dtype = "
             "\"float32\", scale = true } for floats from 0 to 1";
    }
  }
  std::vector<std::string_view> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  const std::string suggestion = did_you_mean(name, names);
  return "is no transform that is known here" +
         (suggestion.empty() ? "; there are " + any_of_words(names) : suggestion);
}

// What the order of steps allows, and what is known of the result without an image.
class Walk {
 public:
  void add(const Step& step, const Parameters& at) {
    std::visit([&](const auto& each) { visit(each, at); }, step);
  }
  /// The steps that led to `other` may be done, or left out.
  void maybe(const Walk& other, const Parameters& at) {
    if (values_ != other.values_ || said_ != other.said_ || dtype_ != other.dtype_) {
      at.fail("it would change the type of some images alone: put ToDtype and Normalize beside it");
    }
    erased_ = erased_ || other.erased_;
    if (size_ != other.size_) size_.reset();
  }
  [[nodiscard]] std::optional<Size> size() const { return size_; }
  /// The pixels have become floats.
  [[nodiscard]] bool has_values() const { return values_; }
  [[nodiscard]] std::optional<Dtype> dtype() const { return said_ ? std::optional(dtype_) : std::nullopt; }

 private:
  void pixels_only(const Parameters& at) const {
    if (values_) at.fail("it works on 8 bit pixels: put it before ToDtype and Normalize");
  }
  static void check_size(const Parameters& at, std::int64_t width, std::int64_t height) {
    if (std::min(width, height) < 1 || std::max(width, height) > kLargestSide) {
      at.fail("it would make images of " + std::to_string(width) + " x " + std::to_string(height) + " pixels");
    }
  }
  void visit(const Resize& step, const Parameters& at) {
    pixels_only(at);
    if (!step.exact && !size_) return;
    const ResizedSize to = resized(step, size_.value_or(Size{}));
    check_size(at, to.width, to.height);
    size_ = Size{static_cast<std::int32_t>(to.width), static_cast<std::int32_t>(to.height)};
  }
  void visit(const CenterCrop& step, const Parameters& at) {
    pixels_only(at);
    size_ = step.size;
  }
  void visit(const RandomResizedCrop& step, const Parameters& at) {
    pixels_only(at);
    size_ = step.size;
  }
  void visit(const RandomCrop& step, const Parameters& at) {
    pixels_only(at);
    size_ = step.size;
  }
  void visit(const Pad& step, const Parameters& at) {
    pixels_only(at);
    if (!size_) return;
    size_->width += step.padding.left + step.padding.right;
    size_->height += step.padding.top + step.padding.bottom;
    check_size(at, size_->width, size_->height);
  }
  void before_erasing(const Parameters& at) const {
    if (erased_) at.fail("put it before the RandomErasing that writes finished values");
  }
  void visit(const RandomHorizontalFlip& /*step*/, const Parameters& at) { before_erasing(at); }
  void visit(const RandomVerticalFlip& /*step*/, const Parameters& at) { before_erasing(at); }
  void visit(const RandomErasing& step, const Parameters& at) {
    erased_ = values_;
    if (!values_ && step.noise) {
      at.fail("normally distributed values have a meaning behind ToDtype and Normalize alone: put it there");
    }
    for (const double value : step.value) {
      if (!values_ && (value != std::floor(value) || value < 0 || value > 255)) {
        at.fail("before ToDtype \"value\" is of 8 bit pixels: whole numbers from 0 to 255");
      }
    }
  }
  void visit(const RandomRotation& step, const Parameters& at) {
    pixels_only(at);
    if (step.expand) size_.reset();  // each result has a size of its own
  }
  void visit(const RandomApply& /*step*/, const Parameters& /*at*/) {}  // maybe()
  // A step that changes colours where they stand.
  template <class Painting>
  void visit(const Painting& /*step*/, const Parameters& at) {
    pixels_only(at);
  }
  void visit(const Normalize& /*step*/, const Parameters& at) {
    before_erasing(at);
    values_ = true;
    if (dtype_ == Dtype::kUint8) {
      at.fail(
          "it needs floating point values: put { name = \"ToDtype\", dtype = \"float32\", scale = true } before it");
    }
  }
  void visit(const ToDtype& step, const Parameters& at) {
    before_erasing(at);
    if (step.dtype == Dtype::kUint8 && dtype_ != Dtype::kUint8) at.fail("floats cannot become uint8 again");
    values_ = values_ || step.dtype != Dtype::kUint8;
    said_ = true;
    dtype_ = step.dtype;
  }

  std::optional<Size> size_;
  Dtype dtype_ = Dtype::kUint8;
  bool said_ = false;
  bool values_ = false;  ///< the pixels have become floats
  bool erased_ = false;  ///< some of them were written over since
};

Parsed parse_step(const json& each, std::size_t place, Walk& walk);

// Its steps must leave what the others rely on: they may not happen.
Parsed parse_random_apply(const Parameters& from, std::size_t place, Walk& walk) {
  RandomApply step;
  step.p = from.probability(0.5);
  json canonical = json::array();
  Walk inside = walk;
  for (const json& each : from.transforms("transforms")) {
    Parsed parsed = parse_step(each, place, inside);
    step.steps.push_back({std::move(parsed.step)});
    canonical.push_back(std::move(parsed.canonical));
  }
  walk.maybe(inside, from);
  return {std::move(step), {{"transforms", std::move(canonical)}, {"p", step.p}}};
}

Parsed parse_step(const json& each, std::size_t place, Walk& walk) {
  if (!each.is_object() || !each.contains("name") || !each["name"].is_string()) {
    throw Error(ErrorKind::kUsage,
                "transform " + std::to_string(place) + " must be a table with a \"name\", not " + each.dump());
  }
  const std::string name = each["name"];
  const Kind* found = nullptr;
  for (const Kind& kind : kinds()) {
    if (kind.name == name) found = &kind;
  }
  if (found == nullptr) {
    throw Error(ErrorKind::kUsage, "transform " + std::to_string(place) + ": \"" + name + "\" " + unknown(name));
  }
  const Parameters parameters(each, place, name, found->parameters);
  Parsed parsed = found->parse != nullptr ? found->parse(parameters) : parse_random_apply(parameters, place, walk);
  if (auto* erasing = std::get_if<RandomErasing>(&parsed.step)) erasing->after_values = walk.has_values();
  walk.add(parsed.step, parameters);
  parsed.canonical["name"] = name;
  return parsed;
}

}  // namespace

Chain Chain::parse(const nlohmann::json& transform) {
  if (!transform.is_array()) throw Error(ErrorKind::kUsage, "\"transform\" must be a list of transforms");
  Chain chain;
  chain.canonical_ = json::array();
  Walk walk;
  for (const json& each : transform) {
    Parsed parsed = parse_step(each, chain.steps_.size() + 1, walk);
    chain.steps_.push_back(std::move(parsed.step));
    chain.canonical_.push_back(std::move(parsed.canonical));
  }
  if (!walk.size()) {
    throw Error(
        ErrorKind::kUsage,
        "the images of a batch must have one size, which this chain of transforms does not fix: add CenterCrop, "
        "RandomCrop or RandomResizedCrop, or a Resize with size = [height, width]");
  }
  chain.output_size_ = *walk.size();
  chain.dtype_ = walk.dtype();
  return chain;
}

}  // namespace feedring
