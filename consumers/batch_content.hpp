// SPDX-License-Identifier: Apache-2.0
// What a Batch and the views made from it hold together. Its end is the release of the slot, or, where the batch lies
// on a device, of that memory: the slot went back when its copy was done.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "consumers/cursor.hpp"
#include "consumers/device_buffers.hpp"
#include "consumers/ring_memory.hpp"

namespace feedring {

struct BatchContent {
  BatchContent(std::shared_ptr<RingMemory> from, std::uint32_t in, const Wanted& what,
               std::shared_ptr<const DeviceBatch> on = nullptr)
      : memory(std::move(from)), slot(in), wanted(what), device(std::move(on)) {}
  BatchContent(const BatchContent&) = delete;
  BatchContent& operator=(const BatchContent&) = delete;
  ~BatchContent() {
    if (device == nullptr) RingMemory::let_go(memory, slot);
  }

  std::shared_ptr<RingMemory> memory;
  std::uint32_t slot;
  Wanted wanted;
  std::shared_ptr<const DeviceBatch> device;  ///< null: the batch is the slot
};

[[nodiscard]] inline std::uint64_t bytes_of(const contract::TensorEntry& entry) noexcept {
  return entry.row_bytes * entry.shape[0];
}
/// One number a row: labels, ids, flags. Where a batch lies on a device the CPU has a copy of these.
[[nodiscard]] inline bool is_column(const contract::TensorEntry& entry) noexcept { return entry.dimensions == 1; }
/// Bytes from the start of a payload to the end of its last tensor.
[[nodiscard]] std::uint64_t used_bytes(const contract::RingShape& shape) noexcept;
/// Of all columns one behind the other, each at a multiple of 64.
[[nodiscard]] std::uint64_t column_bytes(const contract::RingShape& shape) noexcept;
/// Where among them this one lies. `entry` is one of the shape's.
[[nodiscard]] std::uint64_t column_offset(const contract::RingShape& shape,
                                          const contract::TensorEntry& entry) noexcept;

}  // namespace feedring
