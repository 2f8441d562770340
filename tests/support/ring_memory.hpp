// SPDX-License-Identifier: Apache-2.0
// A ring over plain memory of this process. Hand-written states go straight into its words: what a peer left when it
// died, or what a broken peer may write.
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/ring.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring::test {

class RingMemory {
 public:
  RingMemory(std::uint32_t slots, std::uint32_t tasks, std::uint32_t rows = 4)
      : RingMemory(lay_out_ring(slots, tasks, rows, {{"cells", Dtype::kInt64, {2}, {}}})) {}
  explicit RingMemory(const contract::RingShape& shape)
      : shape_(shape), base_(static_cast<std::byte*>(std::aligned_alloc(contract::kPage, shape.bytes)), &std::free) {
    std::memset(base_.get(), 0, shape.bytes);
    create_ring(base_.get(), shape);
  }

  [[nodiscard]] Ring<> ring() const { return {base_.get(), shape_}; }
  [[nodiscard]] const contract::RingShape& shape() const { return shape_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {base_.get(), shape_.bytes}; }

  void set(std::uint32_t slot, contract::SlotWord word) const { slot_word(slot).store(word.pack()); }
  void set(std::uint32_t slot, std::uint32_t task, contract::TaskWord word) const {
    task_word(slot, task).store(word.pack());
  }
  [[nodiscard]] std::atomic<std::uint64_t>& slot_word(std::uint32_t slot) const { return control(slot).word; }
  [[nodiscard]] contract::Ticket<std::atomic>& ticket(std::uint32_t slot) const { return control(slot).ticket; }
  [[nodiscard]] std::atomic<std::uint64_t>& task_word(std::uint32_t slot, std::uint32_t task) const {
    return reinterpret_cast<contract::TaskLine<std::atomic>*>(base_.get() +
                                                              shape_.tasks_offset)[slot * shape_.tasks + task]
        .word;
  }

 private:
  [[nodiscard]] contract::SlotControl<std::atomic>& control(std::uint32_t slot) const {
    return reinterpret_cast<contract::SlotControl<std::atomic>*>(base_.get() + shape_.slots_offset)[slot];
  }

  contract::RingShape shape_;
  std::unique_ptr<std::byte, decltype(&std::free)> base_;
};

}  // namespace feedring::test
