// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/views.hpp"

#include <algorithm>
#include <utility>

#include "runtime/fault_point.hpp"

namespace feedring {
namespace {

Box around(Box a, Box b) noexcept {
  const std::int32_t x = std::min(a.x, b.x);
  const std::int32_t y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x, std::max(a.y + a.height, b.y + b.height) - y};
}

}  // namespace

Views::Views(std::vector<Group> groups) : groups_(std::move(groups)) {
  std::size_t views = 0;
  for (const Group& group : groups_) views += group.count;
  drawn_.resize(views);
}

Fault Views::run(std::span<const std::uint8_t> bytes, Decoder& decoder, std::span<Shot> shots, std::uint64_t max_pixels,
                 std::optional<ClassAugment> turned) {
  if (shots.size() == 1) {
    Shot& only = shots.front();
    return groups_.front().pipeline.run(bytes, decoder, only.random, max_pixels, only.out.data(), turned);
  }
  ImageInfo info;
  if (Fault fault = decoder.probe(bytes, max_pixels, info, groups_.front().pipeline.options())) return fault;
  Box need{};
  std::size_t view = 0;
  for (const Group& group : groups_) {
    for (std::uint32_t i = 0; i < group.count; ++i, ++view) {
      if (Fault fault = group.pipeline.draw(info.size, shots[view].random, max_pixels, drawn_[view])) return fault;
      need = view == 0 ? drawn_[view].need() : around(need, drawn_[view].need());
    }
  }
  RgbView pixels;
  if (Fault fault = decoder.decode(bytes, info, need, pixels)) return fault;
  view = 0;
  for (Group& group : groups_) {
    for (std::uint32_t i = 0; i < group.count; ++i, ++view) {
      if (view != 0) fault_point("decode, between two views");
      Box part = drawn_[view].need();
      part.x -= need.x;
      part.y -= need.y;
      group.pipeline.make(part_of(pixels, part), drawn_[view], shots[view].out.data());
    }
  }
  return std::nullopt;
}

}  // namespace feedring
