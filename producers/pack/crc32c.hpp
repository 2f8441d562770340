// SPDX-License-Identifier: Apache-2.0
// The checksum CRC-32C (Castagnoli's polynomial), as TFRecord files have it. Internal to this folder.
#pragma once

#include <cstdint>
#include <string_view>

namespace feedring::pack {

[[nodiscard]] std::uint32_t crc32c(std::string_view bytes) noexcept;

/// Turned by 15 bits and moved, as it stands in the file: a checksum of bytes that hold checksums says little.
[[nodiscard]] constexpr std::uint32_t masked(std::uint32_t crc) noexcept {
  return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

}  // namespace feedring::pack
