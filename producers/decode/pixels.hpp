// SPDX-License-Identifier: Apache-2.0
// Memory for the pixels of one picture, as every decoder takes it.
#pragma once

#include <fmt/format.h>

#include "producers/decode/arena.hpp"
#include "producers/decode/image.hpp"

namespace feedring {

/// For `size` pixels of three bytes, rows side by side, with kSlack behind; null where there is none.
inline std::uint8_t* take_rgb(Arena& arena, Size size) noexcept {
  return static_cast<std::uint8_t*>(arena.take(
      std::size_t{3} * static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) + kSlack));
}

[[nodiscard]] inline Fault no_memory(Size size) {
  return fmt::format("no memory for {} x {} pixels", size.width, size.height);
}

}  // namespace feedring
