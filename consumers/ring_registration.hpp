// SPDX-License-Identifier: Apache-2.0
// The mapping of a ring, registered with a device once, by a thread of its own: pinning takes the best part of a second
// a GiB, and meanwhile the first batches are copied as they are.
#pragma once

#include <atomic>
#include <cstddef>
#include <feedring/device.hpp>
#include <memory>
#include <span>
#include <string>
#include <thread>

namespace feedring {

class RingRegistration {
 public:
  /// `what` names the feed in the note, which also goes to stderr, once, where the device refuses.
  RingRegistration(std::shared_ptr<Device> device, std::span<std::byte> memory, std::string what);
  RingRegistration(const RingRegistration&) = delete;
  RingRegistration& operator=(const RingRegistration&) = delete;
  /// Waits for the thread and unregisters. No copy may be under way.
  ~RingRegistration();
  /// Waits for the thread: for a registration that is never destroyed, because a copy never ended.
  void wait() noexcept;

  /// Copies are made from registered memory now.
  [[nodiscard]] bool done() const noexcept { return state_.load(std::memory_order_acquire) == State::kDone; }
  /// Why the device refused, and what that means; empty where it did not, or not yet.
  [[nodiscard]] std::string note() const;

 private:
  enum class State { kPending, kDone, kRefused };
  void run(const std::string& what);

  std::shared_ptr<Device> device_;
  std::span<std::byte> memory_;
  std::string note_;  // written before state_ says so
  std::atomic<State> state_ = State::kPending;
  std::thread thread_;
};

}  // namespace feedring
