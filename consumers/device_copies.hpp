// SPDX-License-Identifier: Apache-2.0
// The way from the rank's slots to its device: one copy a batch, the next batch's during the current step. A slot is
// copied while it still stands as ready in the ring, so that a rank that dies meanwhile leaves it to its successor; it
// is leased when the batch is delivered, and released once that and the copy's event have both happened, whichever
// comes last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "consumers/device_buffers.hpp"
#include "consumers/finishing.hpp"
#include "consumers/ring_memory.hpp"

namespace feedring {

class DeviceCopies {
 public:
  /// `stream` says on which stream the program uses the next batch; empty: the default stream.
  /// `finish`: what the device then does to the images. Throws Error(kRefused) where it cannot.
  DeviceCopies(std::shared_ptr<RingMemory> memory, std::function<StreamHandle()> stream,
               const std::optional<FinishInfo>& finish);
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;
  ~DeviceCopies();

  /// Starts the copy of a ready slot, unless it is on its way. One batch ahead at most: another one is forgotten.
  /// Throws what Device throws.
  void begin(std::uint32_t slot);
  /// The batch in a ready slot, its copy begun and the program's stream ordered after it. The caller leases the slot
  /// next. May be called again after it threw.
  [[nodiscard]] std::shared_ptr<const DeviceBatch> take(std::uint32_t slot, std::chrono::nanoseconds at_most);
  /// Batches that were copied from memory that was not registered.
  [[nodiscard]] std::uint64_t staged() const noexcept { return staged_; }

 private:
  struct Ahead {
    std::uint32_t slot;
    std::uint32_t turn;
    std::shared_ptr<const DeviceBatch> batch;
  };
  [[nodiscard]] std::shared_ptr<const DeviceBatch> copy(std::uint32_t slot);

  std::shared_ptr<RingMemory> memory_;
  std::function<StreamHandle()> ask_stream_;
  StreamHandle stream_ = nullptr;  // as it was last told
  std::optional<Finishing> finishing_;
  std::shared_ptr<std::byte> constants_;  // of finishing_, on the device
  std::shared_ptr<DeviceBuffers> buffers_;
  std::optional<Ahead> ahead_;
  std::uint64_t staged_ = 0;
};

}  // namespace feedring
