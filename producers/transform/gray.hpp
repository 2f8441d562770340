// SPDX-License-Identifier: Apache-2.0
// Pillow's gray of a colour. Internal to this folder.
#pragma once

#include <cstdint>

namespace feedring {

/// What convert("L") makes of red, green and blue: the weights of ITU-R 601 in 16 fractional bits, rounded.
inline std::uint8_t gray_of(const std::uint8_t* rgb) noexcept {
  return static_cast<std::uint8_t>((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
}

}  // namespace feedring
