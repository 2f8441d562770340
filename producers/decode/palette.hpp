// SPDX-License-Identifier: Apache-2.0
// The colours of indices. Internal to this folder.
#pragma once

#include <array>
#include <cstdint>

#include "producers/decode/image.hpp"

namespace feedring {

using Palette = std::array<Rgb, 256>;

/// Every index is the gray of its own number.
[[nodiscard]] constexpr Palette gray_ramp() noexcept {
  Palette palette;
  for (std::size_t i = 0; i < palette.size(); ++i) {
    const auto gray = static_cast<std::uint8_t>(i);
    palette[i] = {gray, gray, gray};
  }
  return palette;
}

}  // namespace feedring
