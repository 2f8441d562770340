// SPDX-License-Identifier: Apache-2.0
// BMP, read by code of our own: no library for it is kept well. Of 1, 4, 8, 16, 24 and 32 bits, with palettes,
// bit fields and run lengths; Windows' headers of 40 to 124 bytes and OS/2's of 12 and 64. Format: Microsoft's "Bitmap
// Storage" and "Bitmap Header Types". Internal to this folder; the door is decoder.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "producers/decode/image.hpp"

namespace feedring {

class Arena;

/// The size that the header states, once everything else in the header can be read.
Fault bmp_header(std::span<const std::uint8_t> bytes, Size& size);

/// The pixels of `box`, in memory of the arena. The arena was just reset; `size` is what bmp_header() gave. Whether the
/// file is whole does not depend on the box.
Fault bmp_pixels(std::span<const std::uint8_t> bytes, Size size, Box box, const DecodeOptions& options, Arena& arena,
                 RgbView& out);

}  // namespace feedring
