// SPDX-License-Identifier: Apache-2.0
// Pillow's Image.blend of one value, by which ImageEnhance works. Internal to this folder.
#pragma once

#include <cstdint>

namespace feedring {

/// `factor` of the way from `from` to `to`, in float and cut, not rounded; past both ends too.
inline std::uint8_t blend(int from, int to, float factor) noexcept {
  const float value = static_cast<float>(from) + factor * static_cast<float>(to - from);
  if (value <= 0.0F) return 0;
  if (value >= 255.0F) return 255;
  return static_cast<std::uint8_t>(value);
}

}  // namespace feedring
