// SPDX-License-Identifier: Apache-2.0
// Numbers in the headers of archives. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace feedring::dataset {

template <std::size_t Bytes>
[[nodiscard]] std::uint64_t little_endian(const std::uint8_t* at) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < Bytes; ++i) value |= std::uint64_t{at[i]} << (8 * i);
  return value;
}

}  // namespace feedring::dataset
