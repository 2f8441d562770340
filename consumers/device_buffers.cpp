// SPDX-License-Identifier: Apache-2.0
#include "consumers/device_buffers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <feedring/error.hpp>
#include <utility>

#include "consumers/settle.hpp"

namespace feedring {
namespace {

// Memory of which it is not known when the device will be done with it. Reachable, so that it is no leak by mistake.
void keep_for_ever(std::vector<DeviceBuffer> buffers) noexcept {
  static std::mutex mutex;
  static auto& kept = *new std::vector<DeviceBuffer>;
  const std::lock_guard lock(mutex);
  for (DeviceBuffer& buffer : buffers) kept.push_back(std::move(buffer));
}

}  // namespace

DeviceBuffers::DeviceBuffers(std::shared_ptr<Device> device, std::size_t bytes, std::size_t column_bytes,
                             std::vector<contract::TensorEntry> finished)
    : process_(::getpid()),
      device_(std::move(device)),
      bytes_(bytes),
      column_bytes_(column_bytes),
      finished_(std::move(finished)) {}

const contract::TensorEntry* DeviceBuffers::finished(std::string_view name) const noexcept {
  const auto found = std::find_if(finished_.begin(), finished_.end(),
                                  [name](const contract::TensorEntry& entry) { return name == entry.name; });
  return found == finished_.end() ? nullptr : &*found;
}

DeviceBuffers::~DeviceBuffers() {
  if (!is_mine()) {
    (void)new std::vector<DeviceBuffer>(std::move(free_));  // left alone, as in ~DeviceBatch
    return;
  }
  if (!settle()) keep_for_ever(std::move(free_));
}

bool DeviceBuffers::is_mine() const noexcept { return ::getpid() == process_; }

bool DeviceBuffers::settle() noexcept {
  if (free_.empty()) return true;
  try {
    for (const DeviceBuffer& buffer : free_)
      for (const auto& mark : buffer.after) device_->order(device_->own_stream(), *mark, kDevicePatience);
    return settled(*device_, [last = device_->record()] { return last->fired(); });
  } catch (const std::exception&) {
    return false;
  }
}

DeviceBuffer DeviceBuffers::take(StreamHandle stream) {
  std::size_t in_use = 0;
  {
    const std::lock_guard lock(mutex_);
    in_use = in_use_;
    if (!free_.empty()) {
      DeviceBuffer buffer = std::move(free_.front());
      free_.erase(free_.begin());
      ++in_use_;
      return buffer;
    }
  }
  DeviceBuffer buffer;
  try {
    buffer.memory = device_->allocate(bytes_);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kMemory) throw;
    throw Error(ErrorKind::kMemory,
                fmt::format("there is no room on the device for another batch of {} bytes beside the {} that are in "
                            "use: {}; let batches (and tensors made from them) go, or lower batch_size",
                            bytes_, in_use, error.what()));
  }
  buffer.after.push_back(device_->mark(stream));
  buffer.columns.resize(column_bytes_);
  const std::lock_guard lock(mutex_);
  ++in_use_;
  return buffer;
}

void DeviceBuffers::give_back(DeviceBuffer buffer) noexcept {
  const std::lock_guard lock(mutex_);
  --in_use_;
  free_.push_back(std::move(buffer));
}

void DeviceBuffers::keep(DeviceBuffer buffer) noexcept {
  std::vector<DeviceBuffer> one;
  one.push_back(std::move(buffer));
  keep_for_ever(std::move(one));
}

DeviceBatch::DeviceBatch(std::shared_ptr<DeviceBuffers> buffers, DeviceBuffer buffer,
                         std::shared_ptr<Event> copied) noexcept
    : buffers_(std::move(buffers)), buffer_(std::move(buffer)), copied_(std::move(copied)) {}

DeviceBatch::~DeviceBatch() {
  if (!buffers_->is_mine()) {
    (void)new DeviceBuffer(std::move(buffer_));  // left alone: a lock that it would need may be held for ever here
    return;
  }
  try {
    for (const StreamHandle stream : streams_) buffer_.after.push_back(buffers_->device().mark(stream));
  } catch (const std::exception&) {
    DeviceBuffers::keep(std::move(buffer_));
    return;
  }
  buffers_->give_back(std::move(buffer_));
}

void DeviceBatch::use_on(StreamHandle stream, std::chrono::nanoseconds at_most) const {
  const std::lock_guard lock(mutex_);
  if (std::find(streams_.begin(), streams_.end(), stream) != streams_.end()) return;
  buffers_->device().order(stream, *copied_, at_most);
  streams_.push_back(stream);
}

}  // namespace feedring
