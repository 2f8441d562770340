// SPDX-License-Identifier: Apache-2.0
// Sizes, crops, paddings and flips.
#include <algorithm>
#include <array>
#include <cmath>

#include "producers/plan/exact_math.hpp"
#include "producers/transform/choose_steps.hpp"

namespace feedring {
namespace {

// A side beyond this is a mistake of the picture (one pixel wide, say), and would cost time without bound.
constexpr std::int64_t kLongestSide = 1 << 24;
// torchvision's int(a * b / c): a true division of two exact integers, truncated.
std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  return static_cast<std::int64_t>(static_cast<double>(a * b) / static_cast<double>(c));
}

struct Beside {
  Edge edge = Edge::kConstant;
  Colour fill{};
};

void crop(Box box, bool random, Beside beside, Size& size, Choices& choices) {
  choices.push_back(
      {.kind = Choice::Kind::kCrop, .random = random, .box = box, .edge = beside.edge, .fill = beside.fill});
  size = {box.width, box.height};
}

void resize(Size to, Filter filter, Size& size, Choices& choices) {
  choices.push_back({.kind = Choice::Kind::kResize, .size = to, .filter = filter});
  size = to;
}

// A larger crop is centred with the spare pixel on the right, a smaller one by round((image - crop) / 2).
std::int32_t centred(std::int32_t image, std::int32_t crop_length) noexcept {
  if (crop_length > image) return -((crop_length - image) / 2);
  return static_cast<std::int32_t>(round_half_even((image - crop_length) / 2.0));
}

Box random_box(const RandomResizedCrop& step, Size image, Draw& random) {
  const double area = static_cast<double>(image.width) * image.height;
  const double log_low = exact_log(step.ratio[0]);
  const double log_high = exact_log(step.ratio[1]);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * between(step.scale, random);
    const double aspect = exact_exp(between({log_low, log_high}, random));
    const double width = round_half_even(std::sqrt(target * aspect));
    const double height = round_half_even(std::sqrt(target / aspect));
    if (width < 1.0 || width > image.width || height < 1.0 || height > image.height) continue;
    Box box{0, 0, static_cast<std::int32_t>(width), static_cast<std::int32_t>(height)};
    box.y = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(image.height - box.height) + 1));
    box.x = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(image.width - box.width) + 1));
    return box;
  }
  // The centre, as much of it as the ratio allows. At least one pixel, where torchvision would fail on none.
  Box box{0, 0, image.width, image.height};
  const double ratio = static_cast<double>(image.width) / image.height;
  const auto at_least_one = [](double x) { return std::max(static_cast<std::int32_t>(round_half_even(x)), 1); };
  if (ratio < step.ratio[0]) {
    box.height = at_least_one(image.width / step.ratio[0]);
  } else if (ratio > step.ratio[1]) {
    box.width = at_least_one(image.height * step.ratio[1]);
  }
  box.y = (image.height - box.height) / 2;
  box.x = (image.width - box.width) / 2;
  return box;
}

}  // namespace

Fault choose_for(const Resize& step, Size& size, Draw& /*random*/, Choices& choices) {
  const ResizedSize to = resized(step, size);
  if (std::min(to.width, to.height) < 1 || std::max(to.width, to.height) > kLongestSide) {
    return "Resize would make it " + std::to_string(to.width) + " x " + std::to_string(to.height) + " pixels from " +
           text_of(size);
  }
  resize({static_cast<std::int32_t>(to.width), static_cast<std::int32_t>(to.height)}, step.filter, size, choices);
  return std::nullopt;
}

Fault choose_for(const CenterCrop& step, Size& size, Draw& /*random*/, Choices& choices) {
  crop(
      {centred(size.width, step.size.width), centred(size.height, step.size.height), step.size.width, step.size.height},
      false, {}, size, choices);
  return std::nullopt;
}

Fault choose_for(const RandomResizedCrop& step, Size& size, Draw& random, Choices& choices) {
  crop(random_box(step, size, random), true, {}, size, choices);
  resize(step.size, step.filter, size, choices);
  return std::nullopt;
}

Fault choose_for(const Pad& step, Size& size, Draw& /*random*/, Choices& choices) {
  const Padding& pad = step.padding;
  crop({-pad.left, -pad.top, size.width + pad.left + pad.right, size.height + pad.top + pad.bottom}, false,
       {step.edge, step.fill}, size, choices);
  return std::nullopt;
}

Fault choose_for(const RandomCrop& step, Size& size, Draw& random, Choices& choices) {
  Padding pad = step.padding;
  Size padded{size.width + pad.left + pad.right, size.height + pad.top + pad.bottom};
  if (step.pad_if_needed) {
    const std::int32_t across = std::max(step.size.width - padded.width, 0);
    const std::int32_t down = std::max(step.size.height - padded.height, 0);
    pad.left += across;  // on both sides, as torchvision does: the place is drawn afterwards
    pad.top += down;
    padded.width += 2 * across;
    padded.height += 2 * down;
  }
  if (padded.width < step.size.width || padded.height < step.size.height) {
    return "it is " + text_of(padded) + " pixels with its padding, less than the " + text_of(step.size) +
           " of RandomCrop, and pad_if_needed is not set";
  }
  const auto edge = [&](std::int32_t room) {
    return room == 0 ? 0 : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(room) + 1));
  };
  const std::int32_t top = edge(padded.height - step.size.height);
  const std::int32_t left = edge(padded.width - step.size.width);
  crop({left - pad.left, top - pad.top, step.size.width, step.size.height}, true, {step.edge, step.fill}, size,
       choices);
  return std::nullopt;
}

Fault choose_for(const RandomHorizontalFlip& step, Size& /*size*/, Draw& random, Choices& choices) {
  choices.push_back({.kind = Choice::Kind::kFlip, .random = true, .applied = random.uniform() < step.p});
  return std::nullopt;
}

Fault choose_for(const RandomVerticalFlip& step, Size& /*size*/, Draw& random, Choices& choices) {
  choices.push_back({.kind = Choice::Kind::kVerticalFlip, .random = true, .applied = random.uniform() < step.p});
  return std::nullopt;
}

ResizedSize resized(const Resize& step, Size image) noexcept {
  if (step.exact) return {step.exact->width, step.exact->height};
  const bool upright = image.width <= image.height;
  const std::int64_t shorter = upright ? image.width : image.height;
  const std::int64_t longer = upright ? image.height : image.width;
  std::int64_t new_shorter = 0;
  std::int64_t new_longer = 0;
  if (step.shorter) {
    new_shorter = *step.shorter;
    new_longer = scaled(new_shorter, longer, shorter);
    if (step.max_size && new_longer > *step.max_size) {
      new_shorter = scaled(*step.max_size, new_shorter, new_longer);
      new_longer = *step.max_size;
    }
  } else {
    new_longer = *step.max_size;
    new_shorter = scaled(new_longer, shorter, longer);
  }
  return upright ? ResizedSize{new_shorter, new_longer} : ResizedSize{new_longer, new_shorter};
}

}  // namespace feedring
