// SPDX-License-Identifier: Apache-2.0
// What reads a rank's slots besides the rank's own code: a device that copies from them while the program goes on. A
// slot returns to the producers only after the last view of it died AND everything that the device had been asked to do
// until then is done. This interface is how the feed asks; tests/conformance holds what every implementation must keep.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace feedring {

/// A point in a device's work: it fires once everything submitted before it is done. An event whose device failed never
/// fires, so that what waits for it is kept rather than overwritten. All members may be called by any thread.
class Event {
 public:
  virtual ~Event() = default;
  /// Never blocks.
  [[nodiscard]] virtual bool fired() const noexcept = 0;
  /// Blocks until it fired, for at most `at_most`; returns fired().
  [[nodiscard]] virtual bool wait(std::chrono::nanoseconds at_most) const = 0;
  /// Runs `action` exactly once after it fired, on any thread, at once where it has already. `action` must not throw,
  /// block, or call the device.
  virtual void then(std::function<void()> action) = 0;
};

/// Implementations outlive what was submitted to them: destruction ends when every event that can fire has fired.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// Tells the device about memory that it will copy from (a CUDA device pins it). Throws Error(kUsage) for an empty
  /// range and for one that overlaps a registered one.
  virtual void register_memory(std::byte* base, std::size_t bytes) = 0;
  /// Undoes register_memory(); does nothing for memory that is not registered.
  virtual void unregister_memory(std::byte* base) noexcept = 0;

  /// Marks the point after all work submitted so far. Events fire in the order of their recording. Never null; throws
  /// Error(kInternal) where the device refuses.
  [[nodiscard]] virtual std::shared_ptr<Event> record() = 0;
};

/// How far the host device departs from "everything is done at once": what tests use to play a real device.
struct HostDeviceOptions {
  std::chrono::nanoseconds delay{0};  ///< from recording to firing; 0: no thread is started, events have fired already
  std::uint32_t lose_every = 0;       ///< every n-th event never fires, as after a failed copy; 0: none is lost
};

/// The device of a program that reads its batches with the CPU.
[[nodiscard]] std::shared_ptr<Device> host_device(const HostDeviceOptions& options = {});

}  // namespace feedring
