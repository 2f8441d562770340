// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/geometry.hpp"

#include <algorithm>

#include "producers/transform/resample.hpp"

namespace feedring {
namespace {

Box whole(Size size) noexcept { return {0, 0, size.width, size.height}; }
Size size_of(Box box) noexcept { return {box.width, box.height}; }
bool empty(Box box) noexcept { return box.width <= 0 || box.height <= 0; }

Box intersection(Box a, Box b) noexcept {
  const std::int32_t left = std::max(a.x, b.x);
  const std::int32_t top = std::max(a.y, b.y);
  const std::int32_t right = std::min(a.x + a.width, b.x + b.width);
  const std::int32_t bottom = std::min(a.y + a.height, b.y + b.height);
  if (right <= left || bottom <= top) return {left, top, 0, 0};
  return {left, top, right - left, bottom - top};
}

bool inside(Box inner, Box outer) noexcept { return intersection(inner, outer) == inner; }

// `box` of a stage's output, in pixels of its target.
Box in_target(const Stage& stage, Box box) noexcept {
  const std::int32_t x = stage.mirrored ? stage.frame.width - box.x - box.width : box.x;
  return {stage.frame.x + x, stage.frame.y + box.y, box.width, box.height};
}

// A crop that stays in the frame.
void narrow(Stage& stage, Box box) noexcept {
  stage.frame = in_target(stage, box);
  stage.visible = intersection(stage.visible, stage.frame);
}

}  // namespace

Box visible_in_output(const Stage& stage) noexcept {
  const std::int32_t from_left = stage.visible.x - stage.frame.x;
  const std::int32_t from_right = stage.frame.width - from_left - stage.visible.width;
  return {stage.mirrored ? from_right : from_left, stage.visible.y - stage.frame.y, stage.visible.width,
          stage.visible.height};
}

void Geometry::push_identity(Size size) {
  stages_.push_back({.source = whole(size), .target = size, .frame = whole(size), .visible = whole(size)});
}

void Geometry::start(Size image) {
  stages_.clear();
  push_identity(image);
}

void Geometry::apply(const Choices& choices) {
  for (const Choice& choice : choices) {
    switch (choice.kind) {
      case Choice::Kind::kCrop: crop(choice.box, choice.fill); break;
      case Choice::Kind::kResize: resize(choice.size, choice.filter); break;
      case Choice::Kind::kFlip:
        if (choice.flip) flip();
        break;
    }
  }
}

void Geometry::crop(Box box, Colour fill) {
  Stage& stage = stages_.back();
  if (inside(box, whole(size()))) return narrow(stage, box);
  // What sticks out needs a colour of its own: a stage has one.
  if (stage.visible != stage.frame && stage.fill != fill) {
    push_identity(size());
    return crop(box, fill);
  }
  stage.fill = fill;
  narrow(stage, box);
}

void Geometry::resize(Size target, Filter filter) {
  if (target == size()) return;
  Stage& stage = stages_.back();
  const bool plain = size_of(stage.source) == stage.target && stage.visible == stage.frame && !stage.mirrored;
  if (!plain) {
    push_identity(size());
    return resize(target, filter);
  }
  stage.source = {stage.source.x + stage.frame.x, stage.source.y + stage.frame.y, stage.frame.width,
                  stage.frame.height};
  stage.target = target;
  stage.filter = filter;
  stage.frame = stage.visible = whole(target);
}

void Geometry::flip() { stages_.back().mirrored = !stages_.back().mirrored; }

Fault Geometry::finish(std::uint64_t max_pixels) {
  for (std::size_t i = stages_.size(); i-- > 0;) {
    Stage& stage = stages_[i];
    // A frame that shows nothing but its fill still reads a pixel, so that a broken file is noticed.
    stage.need = empty(stage.visible) ? Box{0, 0, 1, 1}
                                      : needed_source(size_of(stage.source), stage.target, stage.visible, stage.filter);
    stage.need.x += stage.source.x;
    stage.need.y += stage.source.y;
    if (i == 0) break;
    const auto pixels = static_cast<std::uint64_t>(stage.need.width) * static_cast<std::uint64_t>(stage.need.height);
    if (pixels > max_pixels) {
      return "its transforms would make a picture of " + std::to_string(stage.need.width) + " x " +
             std::to_string(stage.need.height) +
             " pixels on the way, more than max_pixels = " + std::to_string(max_pixels);
    }
    narrow(stages_[i - 1], stage.need);
  }
  return std::nullopt;
}

}  // namespace feedring
