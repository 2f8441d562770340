// SPDX-License-Identifier: Apache-2.0
// What a feed and the batches that it handed out share: the mappings, and who holds which slot. It lives until the last
// of them is gone. The only part of a feed that other threads of the process touch: they release.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <feedring/device.hpp>
#include <memory>
#include <string>

#include "runtime/memfd.hpp"
#include "runtime/ring.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {

class RingMemory {
 public:
  /// Maps and checks both segments. `what` names feed and rank in errors. Throws Error(kRefused | kInternal).
  /// The deleter does nothing in a forked child: there the mappings do not exist (MADV_DONTFORK), and whatever lies at
  /// their addresses belongs to somebody else.
  [[nodiscard]] static std::shared_ptr<RingMemory> map(const std::string& what, int ring, int pool,
                                                       std::shared_ptr<Device> device);

  [[nodiscard]] const Ring<>& ring() const noexcept { return ring_; }
  [[nodiscard]] contract::PoolHeader<std::atomic>& pool() const noexcept {
    return *reinterpret_cast<contract::PoolHeader<std::atomic>*>(pool_map_.data());
  }
  [[nodiscard]] const std::string& what() const noexcept { return what_; }
  [[nodiscard]] const contract::TensorEntry& status() const noexcept { return *status_; }

  /// True in the process that attached, false in its forked children.
  [[nodiscard]] bool is_mine() const noexcept;

  /// Faults in the pages of the header and the control blocks, or of one slot's payload, so that later use takes no
  /// fault.
  void populate_control() const noexcept;
  void populate_slot(std::uint32_t slot) const noexcept;

  /// Who has a slot besides the ring's own words, which a peer could overwrite.
  enum class Holder : std::uint8_t { kNobody, kUser, kDevice };
  [[nodiscard]] Holder holder(std::uint32_t slot) const noexcept {
    return holders_[slot].load(std::memory_order_acquire);
  }
  /// The owner leased the slot for the user.
  void hand_out(std::uint32_t slot) const noexcept { holders_[slot].store(Holder::kUser, std::memory_order_relaxed); }

  /// The last view of the slot died, on any thread: releases it once the device is done with what it was asked so far.
  static void let_go(const std::shared_ptr<RingMemory>& memory, std::uint32_t slot) noexcept;

  /// Releases a slot and wakes the owner, which may wait for one.
  void release(std::uint32_t slot) const noexcept;

 private:
  RingMemory(const std::string& what, int ring, int pool, std::shared_ptr<Device> device);
  ~RingMemory() = default;

  pid_t process_;
  std::string what_;
  Mapping ring_map_;
  Mapping pool_map_;
  Ring<> ring_;
  const contract::TensorEntry* status_;
  std::unique_ptr<std::atomic<Holder>[]> holders_;
  std::shared_ptr<Device> device_;
};

}  // namespace feedring
