// SPDX-License-Identifier: Apache-2.0
// WebP by libwebp: lossy, lossless, with alpha; of an animation the first frame on an empty canvas. Internal to this
// folder; the door is decoder.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "producers/decode/image.hpp"

namespace feedring {

class Arena;

/// The size of the canvas. The whole container is checked: a file that is shorter than it says is a fault.
Fault webp_header(std::span<const std::uint8_t> bytes, Size& size);

/// The pixels of `box`, in memory of the arena. The arena was just reset; `size` is what webp_header() gave. The whole
/// picture is always decoded. Damage stays a fault whatever the options: libwebp gives nothing of such a file.
Fault webp_pixels(std::span<const std::uint8_t> bytes, Size size, Box box, const DecodeOptions& options, Arena& arena,
                  RgbView& out);

}  // namespace feedring
