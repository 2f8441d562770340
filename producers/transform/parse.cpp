// SPDX-License-Identifier: Apache-2.0
// JSON -> the steps of a chain, each with its canonical form.
#include <algorithm>
#include <array>
#include <feedring/error.hpp>

#include "producers/config/suggest.hpp"
#include "producers/transform/parameters.hpp"
#include "producers/transform/transform.hpp"

namespace feedring {
namespace {

using nlohmann::json;

struct Parsed {
  Step step;
  json canonical;  ///< without the name
};

json list(Size size) { return json::array({size.height, size.width}); }
json list(const std::array<double, 2>& range) { return json::array({range[0], range[1]}); }
json list(const std::array<double, 3>& values) { return json::array({values[0], values[1], values[2]}); }

Parsed parse_resize(const Parameters& from) {
  Resize step;
  step.filter = from.filter();
  if (from.has("size")) {
    const std::vector<std::int32_t> sides = from.integers("size", 1, kLargestSide);
    if (sides.size() == 1) {
      step.shorter = sides[0];
    } else {
      step.exact = from.size();
    }
  }
  if (from.has("max_size")) {
    if (step.exact) from.fail("\"max_size\" goes with a size that is one integer, not with [height, width]");
    const std::vector<std::int32_t> longest = from.integers("max_size", 1, kLargestSide);
    if (longest.size() != 1) from.fail("\"max_size\" must be one integer");
    step.max_size = longest[0];
    if (step.shorter && *step.max_size <= *step.shorter) from.fail("\"max_size\" must be greater than \"size\"");
  } else if (!from.has("size")) {
    from.fail("\"size\" is missing: an integer for the shorter side, or [height, width]");
  }
  const json size = step.exact ? list(*step.exact) : step.shorter ? json(*step.shorter) : json();
  return {step,
          {{"size", size},
           {"interpolation", name_of(step.filter)},
           {"max_size", step.max_size ? json(*step.max_size) : json()},
           {"antialias", true}}};
}

Parsed parse_center_crop(const Parameters& from) {
  const CenterCrop step{from.size()};
  return {step, {{"size", list(step.size)}}};
}

// Two positive numbers, the smaller first.
std::array<double, 2> range(const Parameters& from, std::string_view key, std::array<double, 2> fallback) {
  if (!from.has(key)) return fallback;
  const std::vector<double> bounds = from.numbers(key);
  if (bounds.size() != 2 || !(bounds[0] > 0) || bounds[0] > bounds[1] || bounds[1] > 1e6 || bounds[0] < 1e-6) {
    from.fail('"' + std::string(key) + "\" must be two positive numbers, the smaller first, such as [0.5, 1.5]");
  }
  return {bounds[0], bounds[1]};
}

Parsed parse_random_resized_crop(const Parameters& from) {
  RandomResizedCrop step;
  step.size = from.size();
  step.scale = range(from, "scale", step.scale);
  step.ratio = range(from, "ratio", step.ratio);
  step.filter = from.filter();
  return {step,
          {{"size", list(step.size)},
           {"scale", list(step.scale)},
           {"ratio", list(step.ratio)},
           {"interpolation", name_of(step.filter)},
           {"antialias", true}}};
}

Parsed parse_random_crop(const Parameters& from) {
  RandomCrop step;
  step.size = from.size();
  step.pad_if_needed = from.flag("pad_if_needed", false);
  if (from.has("padding")) {
    const std::vector<std::int32_t> pad = from.integers("padding", 0, kLargestSide);
    if (pad.size() == 1) {
      step.padding = {pad[0], pad[0], pad[0], pad[0]};
    } else if (pad.size() == 2) {
      step.padding = {pad[0], pad[1], pad[0], pad[1]};
    } else if (pad.size() == 4) {
      step.padding = {pad[0], pad[1], pad[2], pad[3]};
    } else {
      from.fail("\"padding\" must be an integer, [left and right, top and bottom] or [left, top, right, bottom]");
    }
  }
  if (from.has("fill")) {
    const std::vector<std::int32_t> fill = from.integers("fill", 0, 255);
    if (fill.size() != 1 && fill.size() != 3) from.fail("\"fill\" must be an integer or [red, green, blue]");
    for (std::size_t c = 0; c < 3; ++c) step.fill[c] = static_cast<std::uint8_t>(fill[fill.size() == 1 ? 0 : c]);
  }
  if (from.has("padding_mode") && from.word("padding_mode") != "constant") {
    from.fail("\"padding_mode\" can only be \"constant\", with a \"fill\"");
  }
  return {step,
          {{"size", list(step.size)},
           {"padding", {step.padding.left, step.padding.top, step.padding.right, step.padding.bottom}},
           {"pad_if_needed", step.pad_if_needed},
           {"fill", {step.fill[0], step.fill[1], step.fill[2]}},
           {"padding_mode", "constant"}}};
}

Parsed parse_flip(const Parameters& from) {
  const RandomHorizontalFlip step{from.number("p", 0.5)};
  if (step.p < 0.0 || step.p > 1.0) from.fail("\"p\" must be a probability, from 0 to 1");
  return {step, {{"p", step.p}}};
}

std::array<double, 3> per_channel(const Parameters& from, std::string_view key) {
  const std::vector<double> values = from.numbers(key);
  if (values.size() == 1) return {values[0], values[0], values[0]};
  if (values.size() != 3) from.fail('"' + std::string(key) + "\" must be three numbers, for red, green and blue");
  return {values[0], values[1], values[2]};
}

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

struct Kind {
  std::string_view name;
  std::vector<std::string_view> parameters;
  Parsed (*parse)(const Parameters&);
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kinds{
      {"Resize", {"size", "interpolation", "max_size", "antialias"}, parse_resize},
      {"CenterCrop", {"size"}, parse_center_crop},
      {"RandomResizedCrop", {"size", "scale", "ratio", "interpolation", "antialias"}, parse_random_resized_crop},
      {"RandomCrop", {"size", "padding", "pad_if_needed", "fill", "padding_mode"}, parse_random_crop},
      {"RandomHorizontalFlip", {"p"}, parse_flip},
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
  [[nodiscard]] std::optional<Size> size() const { return size_; }
  [[nodiscard]] std::optional<Dtype> dtype() const { return said_ ? std::optional(dtype_) : std::nullopt; }

 private:
  void pixels_only(const Parameters& at) const {
    if (values_) at.fail("it works on 8 bit pixels: put it before ToDtype and Normalize");
  }
  void visit(const Resize& step, const Parameters& at) {
    pixels_only(at);
    if (!step.exact && !size_) return;
    const ResizedSize to = resized(step, size_.value_or(Size{}));
    if (std::min(to.width, to.height) < 1 || std::max(to.width, to.height) > kLargestSide) {
      at.fail("it would make images of " + std::to_string(to.width) + " x " + std::to_string(to.height) + " pixels");
    }
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
  void visit(const RandomHorizontalFlip& /*step*/, const Parameters& /*at*/) {}
  void visit(const Normalize& /*step*/, const Parameters& at) {
    values_ = true;
    if (dtype_ == Dtype::kUint8) {
      at.fail(
          "it needs floating point values: put { name = \"ToDtype\", dtype = \"float32\", scale = true } before it");
    }
  }
  void visit(const ToDtype& step, const Parameters& at) {
    if (step.dtype == Dtype::kUint8 && dtype_ != Dtype::kUint8) at.fail("floats cannot become uint8 again");
    values_ = values_ || step.dtype != Dtype::kUint8;
    said_ = true;
    dtype_ = step.dtype;
  }

  std::optional<Size> size_;
  Dtype dtype_ = Dtype::kUint8;
  bool said_ = false;
  bool values_ = false;  ///< the pixels have become floats
};

}  // namespace

Chain Chain::parse(const nlohmann::json& transform) {
  if (!transform.is_array()) throw Error(ErrorKind::kUsage, "\"transform\" must be a list of transforms");
  Chain chain;
  chain.canonical_ = json::array();
  Walk walk;
  for (const json& each : transform) {
    const std::size_t place = chain.steps_.size() + 1;
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
    Parsed parsed = found->parse(parameters);
    walk.add(parsed.step, parameters);
    parsed.canonical["name"] = name;
    chain.steps_.push_back(parsed.step);
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
