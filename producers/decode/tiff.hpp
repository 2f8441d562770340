// SPDX-License-Identifier: Apache-2.0
// The first picture of a TIFF, by libtiff: gray of 1, 2, 4, 8, 12 and 16 bits, palettes, RGB and CMYK of 8 and 16 bits,
// YCbCr; in strips or tiles, together or plane by plane; whatever libtiff was built to decompress. Internal to this
// folder; the door is decoder.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "producers/decode/image.hpp"

namespace feedring {

class Arena;

/// The size that the directory states, before it is turned, and the orientation (1 to 8) by which it is to be turned.
Fault tiff_header(std::span<const std::uint8_t> bytes, Size& size, std::uint8_t& orientation);

/// The pixels of `box` of the picture as it is stored, in memory of the arena. The arena was just reset; `size` is what
/// tiff_header() gave. Only strips and tiles that the box touches are read, so damage elsewhere goes unseen.
Fault tiff_pixels(std::span<const std::uint8_t> bytes, Size size, Box box, const DecodeOptions& options, Arena& arena,
                  RgbView& out);

}  // namespace feedring
