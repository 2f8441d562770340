// SPDX-License-Identifier: Apache-2.0
#include "consumers/batch_content.hpp"

#include <algorithm>

namespace feedring {
namespace {

std::uint64_t columns_before(const contract::RingShape& shape, const contract::TensorEntry* end) noexcept {
  std::uint64_t bytes = 0;
  for (const contract::TensorEntry* entry = shape.tensor; entry != end; ++entry)
    if (is_column(*entry)) bytes += (bytes_of(*entry) + contract::kLine - 1) / contract::kLine * contract::kLine;
  return bytes;
}

}  // namespace

std::uint64_t used_bytes(const contract::RingShape& shape) noexcept {
  std::uint64_t end = 0;
  for (std::uint32_t t = 0; t < shape.tensors; ++t)
    end = std::max(end, shape.tensor[t].offset + bytes_of(shape.tensor[t]));
  return end;
}

std::uint64_t column_bytes(const contract::RingShape& shape) noexcept {
  return columns_before(shape, shape.tensor + shape.tensors);
}

std::uint64_t column_offset(const contract::RingShape& shape, const contract::TensorEntry& entry) noexcept {
  return columns_before(shape, &entry);
}

}  // namespace feedring
