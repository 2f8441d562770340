// SPDX-License-Identifier: Apache-2.0
// Operations that replace each value of a channel by another one: tables of 256, as Pillow makes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "producers/decode/image.hpp"
#include "producers/transform/operation.hpp"

namespace feedring {

/// Writable interleaved RGB, rows `stride` bytes apart. Does not own.
struct RgbPixels {
  std::uint8_t* data = nullptr;
  Size size;
  std::size_t stride = 0;
};

using Table = std::array<std::uint8_t, 256>;
using Tables = std::array<Table, 3>;  ///< red, green, blue

/// nullopt for an operation that is no table, such as saturation. Some look at all pixels first.
[[nodiscard]] std::optional<Tables> tables_of(const Operation& operation, const RgbPixels& image);

void replace(const RgbPixels& image, const Tables& tables) noexcept;

}  // namespace feedring
