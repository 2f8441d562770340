// SPDX-License-Identifier: Apache-2.0
// How a picture is to be turned, by the EXIF data of its file (EXIF 2.32, 4.6.5 tag 0x0112).
#pragma once

#include <cstdint>
#include <span>

#include "producers/decode/sniff.hpp"

namespace feedring {

/// 1 (as it is) to 8, from a JPEG's, PNG's or WebP's EXIF data; 1 for other formats, without such data, and where they
/// are damaged: they say nothing about a pixel.
[[nodiscard]] std::uint8_t exif_orientation(std::span<const std::uint8_t> bytes, Format format) noexcept;

}  // namespace feedring
