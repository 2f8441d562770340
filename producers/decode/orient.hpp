// SPDX-License-Identifier: Apache-2.0
// Turning and mirroring by EXIF's orientation: 2 mirrored, 3 upside down, 4 mirrored top to bottom, 5 transposed, 6 to
// be turned right, 7 transposed over the other diagonal, 8 to be turned left.
#pragma once

#include <cstdint>

#include "producers/decode/image.hpp"

namespace feedring {

class Arena;

/// The size of the picture once it is turned; given that, the size as it is stored.
[[nodiscard]] constexpr Size turned(Size size, std::uint8_t orientation) noexcept {
  return orientation >= 5 ? Size{size.height, size.width} : size;
}

/// Where a box of the turned picture lies in the stored one, which is of `stored` pixels.
[[nodiscard]] Box stored_box(Box box, Size stored, std::uint8_t orientation) noexcept;

/// Turns what was decoded of stored_box(), into memory of the arena. Orientation 1 leaves the view as it is.
Fault orient(std::uint8_t orientation, Arena& arena, RgbView& view);

}  // namespace feedring
