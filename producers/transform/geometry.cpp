// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/geometry.hpp"

#include <algorithm>

#include "producers/transform/edge.hpp"
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
  const std::int32_t y = stage.upside_down ? stage.frame.height - box.y - box.height : box.y;
  return {stage.frame.x + x, stage.frame.y + y, box.width, box.height};
}

// A crop that stays in the frame.
void narrow(Stage& stage, Box box) noexcept {
  stage.frame = in_target(stage, box);
  stage.visible = intersection(stage.visible, stage.frame);
}

// The part of its source that a stage reads.
Box needed_by(const Stage& stage) {
  // A frame that shows nothing but its fill still reads a pixel, so that a broken file is noticed.
  if (empty(stage.visible)) return {0, 0, 1, 1};
  if (stage.warp != 0) return whole(size_of(stage.source));
  if (stage.edge == Edge::kConstant) {
    return needed_source(size_of(stage.source), stage.target, stage.visible, stage.filter);
  }
  const Extent x = inside_extent(stage.edge, stage.frame.x, stage.frame.width, stage.source.width);
  const Extent y = inside_extent(stage.edge, stage.frame.y, stage.frame.height, stage.source.height);
  return {x.start, y.start, x.end - x.start, y.end - y.start};
}

}  // namespace

Box visible_in_output(const Stage& stage) noexcept {
  const std::int32_t from_left = stage.visible.x - stage.frame.x;
  const std::int32_t from_right = stage.frame.width - from_left - stage.visible.width;
  const std::int32_t from_top = stage.visible.y - stage.frame.y;
  const std::int32_t from_bottom = stage.frame.height - from_top - stage.visible.height;
  return {stage.mirrored ? from_right : from_left, stage.upside_down ? from_bottom : from_top, stage.visible.width,
          stage.visible.height};
}

void Geometry::push_identity(Size size) {
  stages_.push_back({.source = whole(size), .target = size, .frame = whole(size), .visible = whole(size)});
}

void Geometry::start(Size image) {
  stages_.clear();
  operations_.clear();
  warps_.clear();
  push_identity(image);
}

void Geometry::apply(const Choices& choices) {
  for (const Choice& choice : choices) {
    if (!choice.applied) continue;
    switch (choice.kind) {
      case Choice::Kind::kCrop: crop(choice.box, choice.fill, choice.edge); break;
      case Choice::Kind::kResize: resize(choice.size, choice.filter); break;
      case Choice::Kind::kFlip: flip(); break;
      case Choice::Kind::kVerticalFlip: flip_vertically(); break;
      case Choice::Kind::kOperation: operate(choice.operation); break;
      case Choice::Kind::kRotate:
      case Choice::Kind::kAffine: warp(choice.warp, choice.size); break;
      case Choice::Kind::kApply:
      case Choice::Kind::kNothing: break;
      case Choice::Kind::kErase: break;  // of finished values: Pipeline's
    }
  }
}

Stage& Geometry::fresh() {
  const Stage& stage = stages_.back();
  const bool only_crops = size_of(stage.source) == stage.target && stage.visible == stage.frame &&
                          stage.edge == Edge::kConstant && !stage.mirrored && !stage.upside_down &&
                          stage.operations == 0 && stage.warp == 0;
  if (only_crops) {
    const Box source{stage.source.x + stage.frame.x, stage.source.y + stage.frame.y, stage.frame.width,
                     stage.frame.height};
    stages_.pop_back();
    push_identity(size_of(source));
    stages_.back().source = source;
  } else {
    push_identity(size());
  }
  return stages_.back();
}

void Geometry::crop(Box box, Colour fill, Edge edge) {
  if (inside(box, whole(size()))) {
    if (last().operations > 0) push_identity(size());
    return narrow(stages_.back(), box);
  }
  if (edge != Edge::kConstant) {
    Stage& stage = fresh();
    stage.edge = edge;
    stage.frame = stage.visible = box;
    return;
  }
  // What sticks out needs a colour of its own: a stage has one, which its operations change.
  const Stage& before = last();
  const bool other_fill = before.visible != before.frame && before.fill != fill;
  if (before.edge != Edge::kConstant || other_fill || before.operations > 0) push_identity(size());
  stages_.back().fill = fill;
  narrow(stages_.back(), box);
}

void Geometry::resize(Size target, Filter filter) {
  if (target == size()) return;
  Stage& stage = fresh();
  stage.target = target;
  stage.filter = filter;
  stage.frame = stage.visible = whole(target);
}

Stage& Geometry::flippable() {
  const std::span<const Operation> done = operations(last());
  const bool any_order =
      std::all_of(done.begin(), done.end(), [](const Operation& each) { return ignores_flips(each.kind); });
  if (!any_order) push_identity(size());
  return stages_.back();
}

void Geometry::flip() {
  Stage& stage = flippable();
  stage.mirrored = !stage.mirrored;
}

void Geometry::flip_vertically() {
  Stage& stage = flippable();
  stage.upside_down = !stage.upside_down;
}

void Geometry::operate(const Operation& operation) {
  Stage& stage = stages_.back();
  if (stage.operations == 0) stage.first_operation = static_cast<std::uint32_t>(operations_.size());
  ++stage.operations;
  operations_.push_back(operation);
}

void Geometry::warp(const Warp& how, Size result) {
  Stage& stage = fresh();
  warps_.push_back(how);
  stage.warp = static_cast<std::uint32_t>(warps_.size());
  stage.target = result;
  stage.frame = stage.visible = whole(result);
}

bool Geometry::may_narrow(const Stage& stage) const noexcept {
  const std::span<const Operation> done = operations(stage);
  return std::all_of(done.begin(), done.end(), [](const Operation& each) { return is_pointwise(each.kind); });
}

Fault Geometry::finish(std::uint64_t max_pixels) {
  for (std::size_t i = stages_.size(); i-- > 0;) {
    Stage& stage = stages_[i];
    stage.need = needed_by(stage);
    stage.need.x += stage.source.x;
    stage.need.y += stage.source.y;
    if (i == 0) break;
    if (!may_narrow(stages_[i - 1])) stage.need = whole(size_of(stages_[i - 1].frame));
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
