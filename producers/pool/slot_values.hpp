// SPDX-License-Identifier: Apache-2.0
// Single values of a slot's tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/ring_segment.hpp"

namespace feedring {

/// Where the rows of one tensor lie in the slots of a ring. Found once, by name, and used for many rows.
class TensorPlace {
 public:
  /// Of no tensor: put() does nothing.
  TensorPlace() = default;
  /// Of no tensor where the ring has none of that name.
  TensorPlace(const contract::RingShape& shape, std::string_view tensor) noexcept {
    const contract::TensorEntry* entry = find_tensor(shape, tensor);
    if (entry == nullptr) return;
    offset_ = entry->offset;
    row_bytes_ = entry->row_bytes;
  }

  [[nodiscard]] std::byte* row(std::byte* payload, std::uint64_t row) const noexcept {
    return payload + offset_ + row * row_bytes_;
  }
  /// Writes value number `at` of a row; nothing where the rows are too short for it.
  template <class T>
  void put(std::byte* payload, std::uint64_t row, std::uint64_t at, T value) const noexcept {
    if ((at + 1) * sizeof value <= row_bytes_)
      std::memcpy(this->row(payload, row) + at * sizeof value, &value, sizeof value);
  }

 private:
  std::uint64_t offset_ = 0;
  std::uint64_t row_bytes_ = 0;
};

}  // namespace feedring
