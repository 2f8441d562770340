// SPDX-License-Identifier: Apache-2.0
// PNG by libspng: all depths and colour types, interlaced or not. Internal to this folder; the door is decoder.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "producers/decode/image.hpp"

namespace feedring {

class Arena;

/// The size that the header states. The arena was just reset.
Fault png_header(std::span<const std::uint8_t> bytes, Arena& arena, Size& size);

/// The pixels of `box`, in memory of the arena. The arena was just reset; `size` is what png_header() gave. The whole
/// file is always read and checked, so that the verdict does not depend on the box. Where damage is accepted, checksums
/// are not looked at, and rows that cannot be had are black. `indices` as in ImageInfo.
Fault png_pixels(std::span<const std::uint8_t> bytes, Size size, Box box, const DecodeOptions& options, bool indices,
                 Arena& arena, RgbView& out);
/// What is said of other files.
[[nodiscard]] Fault no_indices();

}  // namespace feedring
