// SPDX-License-Identifier: Apache-2.0
// The few words that decoders and transforms share: sizes, boxes, and a view of interleaved RGB bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace feedring {

struct Size {
  std::int32_t width = 0;
  std::int32_t height = 0;
  bool operator==(const Size&) const = default;
};

/// A rectangle in pixels; (x, y) is its upper left corner.
struct Box {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t width = 0;
  std::int32_t height = 0;
  bool operator==(const Box&) const = default;
};

/// Interleaved 8 bit RGB, rows `stride` bytes apart. Does not own. Readers may touch kSlack bytes past the last row
/// (whoever owns the memory allocates them), never before the first.
struct RgbView {
  const std::uint8_t* data = nullptr;
  Size size;
  std::size_t stride = 0;
};
inline constexpr std::size_t kSlack = 64;

/// nullopt: fine. Else one clause that says what is wrong with the bytes; the caller adds path, size and index.
using Fault = std::optional<std::string>;

}  // namespace feedring
