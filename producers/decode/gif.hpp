// SPDX-License-Identifier: Apache-2.0
// The first picture of a GIF, by giflib: on a canvas that has room for it, of its transparent colour, else of colour 0.
// Internal to this folder; the door is decoder.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "producers/decode/image.hpp"

namespace feedring {

class Arena;

/// The size of the screen, or more where the first picture reaches beyond it.
Fault gif_header(std::span<const std::uint8_t> bytes, Size& size);

/// The pixels of `box`, in memory of the arena. The arena was just reset; `size` is what gif_header() gave. The first
/// picture is always read to its end; what comes behind it is not looked at.
Fault gif_pixels(std::span<const std::uint8_t> bytes, Size size, Box box, const DecodeOptions& options, Arena& arena,
                 RgbView& out);

}  // namespace feedring
