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

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  bool operator==(const Rgb&) const = default;
};

/// How a file is read, where there is a choice. The defaults are Pillow's, but for damage.
struct DecodeOptions {
  bool accept_damaged = false;    ///< deliver what a damaged or truncated file still gives, and black for the rest
  bool exif_orientation = false;  ///< turn the picture as its EXIF data say; that of a TIFF always counts, as in Pillow
  std::optional<Rgb> background{};  ///< blend what is transparent over this colour; without it, alpha is dropped
  bool operator==(const DecodeOptions&) const = default;
};

/// Interleaved 8 bit RGB, rows `stride` bytes apart. Does not own. Readers may touch kSlack bytes past the last row
/// (whoever owns the memory allocates them), never before the first.
struct RgbView {
  const std::uint8_t* data = nullptr;
  Size size;
  std::size_t stride = 0;
};
inline constexpr std::size_t kSlack = 64;

/// The part `box` of it, which lies inside.
[[nodiscard]] inline RgbView part_of(RgbView image, Box box) noexcept {
  const std::uint8_t* first =
      image.data + static_cast<std::size_t>(box.y) * image.stride + static_cast<std::size_t>(box.x) * 3;
  return {first, {box.width, box.height}, image.stride};
}

/// nullopt: fine. Else one clause that says what is wrong with the bytes; the caller adds path, size and index.
using Fault = std::optional<std::string>;

}  // namespace feedring
