// SPDX-License-Identifier: Apache-2.0
// Single values of a slot's tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/ring_segment.hpp"

namespace feedring {

/// Writes value number `at` of a row of a tensor; nothing where the ring has no such tensor, or one whose rows are too
/// short.
template <class T>
void put_value(const contract::RingShape& shape, std::byte* payload, std::string_view tensor, std::uint64_t row,
               std::uint64_t at, T value) noexcept {
  const contract::TensorEntry* entry = find_tensor(shape, tensor);
  if (entry != nullptr && (at + 1) * sizeof value <= entry->row_bytes)
    std::memcpy(payload + entry->offset + row * entry->row_bytes + at * sizeof value, &value, sizeof value);
}

}  // namespace feedring
