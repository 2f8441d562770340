// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/turn.hpp"

#include <cstddef>
#include <cstring>

namespace feedring {
namespace {

// Where the pixel comes from that stands at the upper left of the result, and how far the next one to the right and the
// next one below are, in bytes.
struct Walk {
  std::ptrdiff_t start;
  std::ptrdiff_t right;
  std::ptrdiff_t down;
};

Walk walk_of(RgbView image, ClassAugment how) noexcept {
  const auto row = static_cast<std::ptrdiff_t>(image.stride);
  const std::ptrdiff_t last_column = std::ptrdiff_t{image.size.width - 1} * 3;
  const std::ptrdiff_t last_row = (image.size.height - 1) * row;
  switch (how) {
    case ClassAugment::kRotate90: return {last_column, row, -3};
    case ClassAugment::kRotate180: return {last_column + last_row, -3, -row};
    case ClassAugment::kRotate270: return {last_row, -row, 3};
    case ClassAugment::kFlipHorizontal: return {last_column, -3, row};
    case ClassAugment::kFlipVertical: break;
  }
  return {last_row, 3, -row};
}

}  // namespace

Size turned_size(Size size, ClassAugment how) noexcept {
  const bool quarter = how == ClassAugment::kRotate90 || how == ClassAugment::kRotate270;
  return quarter ? Size{size.height, size.width} : size;
}

RgbView turn(RgbView image, ClassAugment how, std::vector<std::uint8_t>& memory) {
  const Size size = turned_size(image.size, how);
  const std::size_t row = static_cast<std::size_t>(size.width) * 3;
  const std::size_t wanted = row * static_cast<std::size_t>(size.height) + kSlack;
  if (memory.size() < wanted) memory.resize(wanted);
  const Walk walk = walk_of(image, how);
  const std::uint8_t* from = image.data + walk.start;
  std::uint8_t* to = memory.data();
  for (std::int32_t y = 0; y < size.height; ++y, from += walk.down) {
    const std::uint8_t* pixel = from;
    for (std::int32_t x = 0; x < size.width; ++x, pixel += walk.right, to += 3) std::memcpy(to, pixel, 3);
  }
  return {memory.data(), size, row};
}

}  // namespace feedring
