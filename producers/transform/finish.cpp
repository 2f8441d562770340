// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/finish.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/plan/normal.hpp"
#include "producers/transform/finish_kernels.hpp"
#include "producers/transform/half.hpp"

namespace feedring {
namespace {

// The nearest value of `dtype`.
float rounded(Dtype dtype, float value) noexcept {
  if (dtype == Dtype::kFloat16) return float_of_float16(float16_of(value));
  if (dtype == Dtype::kBfloat16) return float_of_bfloat16(bfloat16_of(value));
  return value;
}

// One pixel value on its way through the chain.
struct Value {
  float value;
  Dtype dtype = Dtype::kUint8;
  int channel;

  void operator()(const ToDtype& step) {
    const bool scale = step.scale && dtype == Dtype::kUint8 && step.dtype != Dtype::kUint8;
    dtype = step.dtype;
    value = rounded(dtype, value);
    if (scale) value = rounded(dtype, value * static_cast<float>(1.0 / 255));
  }
  void operator()(const Normalize& step) {
    const auto at = static_cast<std::size_t>(channel);
    value = rounded(dtype, value - rounded(dtype, static_cast<float>(step.mean[at])));
    value = rounded(dtype, value / rounded(dtype, static_cast<float>(step.std[at])));
  }
  template <class Geometric>
  void operator()(const Geometric& /*step*/) {}
};

// What Value does, without its order of steps: the last scale and the last Normalize.
struct Gather {
  kernels::Affine affine;
  Dtype dtype = Dtype::kUint8;

  void operator()(const ToDtype& step) {
    if (step.scale && dtype == Dtype::kUint8 && step.dtype != Dtype::kUint8)
      affine.scale = static_cast<float>(1.0 / 255);
    if (dtype == Dtype::kUint8) affine.step = step.dtype;
    dtype = step.dtype;
  }
  void operator()(const Normalize& step) {
    affine.step = dtype;
    for (std::size_t c = 0; c < 3; ++c) {
      affine.mean[c] = rounded(dtype, static_cast<float>(step.mean[c]));
      affine.std[c] = rounded(dtype, static_cast<float>(step.std[c]));
    }
  }
  template <class Geometric>
  void operator()(const Geometric& /*step*/) {}
};

template <class Element>
void convert(const std::array<std::array<Element, 256>, 3>& tables, Layout layout, const std::uint8_t* rgb,
             std::size_t done, std::size_t pixels, std::uint8_t* out) noexcept {
  // Element by element through memcpy, which is one store: bytes of a slot have no type of their own.
  const auto put = [](std::uint8_t* to, Element element) { std::memcpy(to, &element, sizeof(Element)); };
  const std::size_t step = layout == Layout::kNhwc ? 3 * sizeof(Element) : sizeof(Element);
  const std::size_t channel = layout == Layout::kNhwc ? sizeof(Element) : pixels * sizeof(Element);
  rgb += 3 * done;
  out += step * done;
  for (std::size_t i = done; i < pixels; ++i, rgb += 3, out += step) {
    put(out, tables[0][rgb[0]]);
    put(out + channel, tables[1][rgb[1]]);
    put(out + 2 * channel, tables[2][rgb[2]]);
  }
}

}  // namespace

Finish::Finish(const Chain& chain, Dtype dtype, Layout layout)
    : size_(chain.output_size()),
      pixels_(static_cast<std::size_t>(chain.output_size().width) *
              static_cast<std::size_t>(chain.output_size().height)),
      dtype_(dtype),
      layout_(layout) {
  if (std::find(kImageDtypes.begin(), kImageDtypes.end(), dtype) == kImageDtypes.end() ||
      chain.dtype().value_or(dtype) != dtype) {
    throw Error(ErrorKind::kUsage,
                "images of type " + std::string(name_of(dtype)) +
                    " were asked for, which the feed's transforms do not make: end them with ToDtype(" +
                    std::string(name_of(dtype)) + ")");
  }
  for (int channel = 0; channel < 3; ++channel) {
    for (int pixel = 0; pixel < 256; ++pixel) {
      Value value{.value = static_cast<float>(pixel), .channel = channel};
      for (const Step& step : chain.steps()) std::visit(value, step);
      if (!chain.dtype()) value(ToDtype{dtype, true});
      const auto c = static_cast<std::size_t>(channel);
      const auto p = static_cast<std::size_t>(pixel);
      floats_[c][p] = value.value;
      halves_[c][p] = dtype == Dtype::kBfloat16 ? bfloat16_of(value.value) : float16_of(value.value);
    }
  }
  if (dtype != Dtype::kUint8) formula_ = formula(chain);
}

std::optional<kernels::Affine> Finish::formula(const Chain& chain) const {
  Gather gather{.affine = {.to = dtype_, .layout = layout_}};
  for (const Step& step : chain.steps()) std::visit(gather, step);
  if (!chain.dtype()) gather(ToDtype{dtype_, true});
  kernels::Affine& affine = gather.affine;
  affine.line = line_of(affine);
  if (affine.line && is_right(affine)) return affine;
  affine.line.reset();
  if (is_right(affine)) return affine;
  return {};
}

// 16 bits are so few that one rounding before the last, instead of three or more, seldom shows; where it does, a line
// that lies a little higher or lower, or is steeper, has the right numbers as a rule.
std::optional<kernels::Line> Finish::line_of(const kernels::Affine& affine) const {
  if (bytes_of(dtype_) != 2) return {};
  constexpr int kNeighbours = 2;
  const auto beside = [](float value, int steps) {
    return std::bit_cast<float>(std::bit_cast<std::int32_t>(value) + steps);
  };
  kernels::Line line;
  const auto fits = [&](std::size_t c) {
    for (std::size_t value = 0; value < 256; ++value) {
      const float result = std::fma(static_cast<float>(value), line.slope[c], line.offset[c]);
      const std::uint16_t half =
          dtype_ == Dtype::kFloat16 ? float16_of(result)
                                    : static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(result) + 0x8000) >> 16);
      if (halves_[c][value] != half) return false;
    }
    return true;
  };
  const auto search = [&](std::size_t c) {
    const auto slope = static_cast<float>(double{affine.scale} / double{affine.std[c]});
    const auto offset = static_cast<float>(-double{affine.mean[c]} / double{affine.std[c]});
    for (int steeper = -kNeighbours; steeper <= kNeighbours; ++steeper) {
      for (int higher = -kNeighbours; higher <= kNeighbours; ++higher) {
        line.slope[c] = beside(slope, steeper);
        line.offset[c] = affine.mean[c] == 0 ? 0 : beside(offset, higher);
        if (fits(c)) return true;
      }
    }
    return false;
  };
  if (search(0) && search(1) && search(2)) return line;
  return {};
}

bool Finish::is_right(const kernels::Affine& affine) const {
  // Every value of every channel, each of them once in each lane of a vector.
  constexpr std::size_t kLanes = 64;
  constexpr std::size_t kPixels = 256 * kLanes;
  std::vector<std::uint8_t> rgb(3 * kPixels + kSlack);
  for (std::size_t i = 0; i < 3 * kPixels; ++i) rgb[i] = static_cast<std::uint8_t>((i / 3 + i / 3 / 256) % 256);
  std::vector<std::uint8_t> right(3 * kPixels * bytes_of(dtype_));
  look_up(rgb.data(), 0, kPixels, right.data());
  std::vector<std::uint8_t> got(right.size());
  return kernels::run_affine(affine, rgb.data(), kPixels, got.data()) == kPixels && got == right;
}

void Finish::run(const std::uint8_t* rgb, std::uint8_t* out) const noexcept {
  if (dtype_ == Dtype::kUint8) {
    kernels::split_channels(rgb, pixels_, out, out + pixels_, out + 2 * pixels_);
    return;
  }
  const std::size_t done = formula_ ? kernels::run_affine(*formula_, rgb, pixels_, out) : 0;
  look_up(rgb, done, pixels_, out);
}

void Finish::look_up(const std::uint8_t* rgb, std::size_t done, std::size_t pixels, std::uint8_t* out) const noexcept {
  if (dtype_ == Dtype::kFloat32) {
    convert(floats_, layout_, rgb, done, pixels, out);
  } else {
    convert(halves_, layout_, rgb, done, pixels, out);
  }
}

template <class Next>
void Finish::write_part(Box box, std::uint8_t* out, Next next) const noexcept {
  const std::size_t element = bytes_of(dtype_);
  const std::size_t step = layout_ == Layout::kNhwc ? 3 * element : element;
  for (std::size_t c = 0; c < 3; ++c) {
    std::uint8_t* channel = out + c * (layout_ == Layout::kNhwc ? element : pixels_ * element);
    for (std::int32_t y = box.y; y < box.y + box.height; ++y) {
      std::uint8_t* at = channel + (static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) +
                                    static_cast<std::size_t>(box.x)) *
                                       step;
      for (std::int32_t x = 0; x < box.width; ++x, at += step) {
        const auto value = static_cast<float>(next(c));
        if (element == sizeof value) {
          std::memcpy(at, &value, sizeof value);
        } else {
          const std::uint16_t half = dtype_ == Dtype::kBfloat16 ? bfloat16_of(value) : float16_of(value);
          std::memcpy(at, &half, sizeof half);
        }
      }
    }
  }
}

void Finish::erase(Box box, const std::array<double, 3>& values, std::uint8_t* out) const noexcept {
  write_part(box, out, [&](std::size_t channel) { return values[channel]; });
}

void Finish::erase(Box box, Draw random, std::uint8_t* out) const noexcept {
  write_part(box, out, [&](std::size_t) { return standard_normal(random); });
}

float Finish::value(int channel, std::uint8_t value) const noexcept {
  return floats_[static_cast<std::size_t>(channel)][value];
}

FinishTable Finish::table() const noexcept {
  FinishTable table{dtype_, layout_, {}};
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t v = 0; v < 256; ++v) {
      std::uint32_t& bits = table.bits[256 * c + v];
      switch (bytes_of(dtype_)) {
        case 1: bits = static_cast<std::uint32_t>(v); break;
        case 2: bits = halves_[c][v]; break;
        default: bits = std::bit_cast<std::uint32_t>(floats_[c][v]);
      }
    }
  }
  return table;
}

}  // namespace feedring
