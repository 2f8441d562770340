// SPDX-License-Identifier: Apache-2.0
// Numbers in the headers of files, whatever the host's byte order. Callers have checked that the bytes are there.
#pragma once

#include <cstdint>

namespace feedring {

constexpr std::uint32_t little_16(const std::uint8_t* at) noexcept { return at[0] | std::uint32_t{at[1]} << 8; }
constexpr std::uint32_t little_32(const std::uint8_t* at) noexcept { return little_16(at) | little_16(at + 2) << 16; }
constexpr std::uint32_t big_16(const std::uint8_t* at) noexcept { return std::uint32_t{at[0]} << 8 | at[1]; }
constexpr std::uint32_t big_32(const std::uint8_t* at) noexcept { return big_16(at) << 16 | big_16(at + 2); }

}  // namespace feedring
