// SPDX-License-Identifier: Apache-2.0
// What a feed and the batches that it handed out share: the mappings, and who holds which slot. It lives until the last
// of them is gone. The only part of a feed that other threads of the process touch: they release.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <feedring/device.hpp>
#include <memory>
#include <optional>
#include <string>

#include "consumers/ring_registration.hpp"
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

  /// Who has a slot besides the ring's own words, which a peer could overwrite. kAhead: the device copies it, and it
  /// has not been delivered yet.
  enum class Holder : std::uint8_t { kNobody, kUser, kDevice, kAhead };
  [[nodiscard]] Holder holder(std::uint32_t slot) const noexcept {
    if (copying_ == nullptr) return holders_[slot].load(std::memory_order_acquire);
    const std::uint32_t copies = copying_[slot].load(std::memory_order_acquire);
    return copies == 0 ? Holder::kNobody : (copies & kDelivered) != 0 ? Holder::kDevice : Holder::kAhead;
  }
  /// The owner leased the slot: for the user, or for a device that copies it, or has already.
  void hand_out(std::uint32_t slot) noexcept;

  /// The last view of the slot died, on any thread: releases it once the device is done with what it was asked so far.
  static void let_go(const std::shared_ptr<RingMemory>& memory, std::uint32_t slot) noexcept;

  /// Releases a slot and wakes the owner, which may wait for one.
  void release(std::uint32_t slot) const noexcept;

  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return device_; }
  /// The owner has a device copy a ready slot: nobody takes it back before copied().
  void begin_copy(std::uint32_t slot) noexcept;
  /// The event after the copy fired, on any thread: touches atomics and wakes the owner, no more.
  void copied(std::uint32_t slot) noexcept;
  /// The device knows the mapping, so that copies run beside the program.
  [[nodiscard]] bool registered() const noexcept { return registration_ && registration_->done(); }
  [[nodiscard]] std::string device_note() const { return registration_ ? registration_->note() : std::string(); }
  /// Waits until no copy is under way; false where one still is.
  [[nodiscard]] bool settle() const noexcept;

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
  // Of each slot, where a device copies: how many copies are under way, kCopy for each (a seek may forget one and come
  // back for the same batch), and whether the owner has leased it since. Whoever makes it kDelivered alone releases the
  // slot.
  static constexpr std::uint32_t kDelivered = 1, kCopy = 2;
  std::unique_ptr<std::atomic<std::uint32_t>[]> copying_;
  std::shared_ptr<Device> device_;
  std::atomic<std::uint32_t> copies_under_way_ = 0;
  std::optional<RingRegistration> registration_;  // last: it ends before the mapping does
};

}  // namespace feedring
