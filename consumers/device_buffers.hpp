// SPDX-License-Identifier: Apache-2.0
// Memory of the device for batches. A buffer is used again only once the last tensor of its batch is gone, and is then
// written only after everything that the program's streams had been given by that time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <feedring/device.hpp>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "runtime/contract.hpp"

namespace feedring {

struct DeviceBuffer {
  std::shared_ptr<std::byte> memory;
  std::shared_ptr<std::byte> constants;  ///< that the finishing of its images reads: they stay as long as those may
  std::vector<std::shared_ptr<const Mark>> after;  ///< what the next copy into it must come after
  std::vector<std::byte> columns;                  ///< the small tensors, for the CPU
};

/// Any thread.
class DeviceBuffers {
 public:
  /// `finished`: where in a buffer, and as what, finished images lie.
  DeviceBuffers(std::shared_ptr<Device> device, std::size_t bytes, std::size_t column_bytes,
                std::vector<contract::TensorEntry> finished);
  DeviceBuffers(const DeviceBuffers&) = delete;
  DeviceBuffers& operator=(const DeviceBuffers&) = delete;
  /// Frees what is not in use any more, by the program's streams either, for which it waits; what cannot be waited for
  /// stays with the process.
  ~DeviceBuffers();

  [[nodiscard]] Device& device() const noexcept { return *device_; }
  /// False in a forked child, where the device cannot be asked for anything.
  [[nodiscard]] bool is_mine() const noexcept;
  /// The images of this name, where the device finishes them; else null.
  [[nodiscard]] const contract::TensorEntry* finished(std::string_view name) const noexcept;
  /// One that came back, the earliest, else a new one, whose memory the allocator may have taken from work that
  /// `stream` has not finished. Throws Error(kMemory), which says how many are in use.
  [[nodiscard]] DeviceBuffer take(StreamHandle stream);
  void give_back(DeviceBuffer buffer) noexcept;
  /// It cannot be known when it will be free: it is kept, and never used again.
  static void keep(DeviceBuffer buffer) noexcept;

 private:
  /// The device is done with everything in free_.
  [[nodiscard]] bool settle() noexcept;

  pid_t process_;
  std::shared_ptr<Device> device_;
  std::size_t bytes_;
  std::size_t column_bytes_;
  std::vector<contract::TensorEntry> finished_;
  std::mutex mutex_;
  std::vector<DeviceBuffer> free_;
  std::size_t in_use_ = 0;
};

/// One batch on the device. Its end, on any thread, gives the buffer back.
class DeviceBatch {
 public:
  DeviceBatch(std::shared_ptr<DeviceBuffers> buffers, DeviceBuffer buffer, std::shared_ptr<Event> copied) noexcept;
  DeviceBatch(const DeviceBatch&) = delete;
  DeviceBatch& operator=(const DeviceBatch&) = delete;
  ~DeviceBatch();

  /// Laid out as the payload of the slot; behind that the finished images, where the device finishes them.
  [[nodiscard]] std::byte* data() const noexcept { return buffer_.memory.get(); }
  [[nodiscard]] const std::byte* columns() const noexcept { return buffer_.columns.data(); }
  [[nodiscard]] const contract::TensorEntry* finished(std::string_view name) const noexcept {
    return buffers_->finished(name);
  }
  [[nodiscard]] DeviceTag tag() const noexcept { return buffers_->device().tag(); }

  /// What is put on `stream` from now on comes after the copy, and the next copy into this memory after what was put
  /// there by this batch's end. Throws as Device::order() does.
  void use_on(StreamHandle stream, std::chrono::nanoseconds at_most) const;

 private:
  std::shared_ptr<DeviceBuffers> buffers_;
  mutable DeviceBuffer buffer_;
  std::shared_ptr<Event> copied_;
  mutable std::mutex mutex_;
  mutable std::vector<StreamHandle> streams_;
};

}  // namespace feedring
