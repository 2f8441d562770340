// SPDX-License-Identifier: Apache-2.0
#include "consumers/device_copies.hpp"

#include <cstring>
#include <utility>

#include "consumers/batch_content.hpp"

namespace feedring {
namespace {

std::shared_ptr<DeviceBuffers> make_buffers(const RingMemory& memory) {
  return std::make_shared<DeviceBuffers>(memory.device(), used_bytes(memory.ring().shape()),
                                         column_bytes(memory.ring().shape()));
}

}  // namespace

DeviceCopies::DeviceCopies(std::shared_ptr<RingMemory> memory, std::function<StreamHandle()> stream)
    : memory_(std::move(memory)), stream_(std::move(stream)), buffers_(make_buffers(*memory_)) {}

void DeviceCopies::begin(std::uint32_t slot) {
  const std::uint32_t turn = memory_->ring().slot(slot).turn;
  if (ahead_ && ahead_->slot == slot && ahead_->turn == turn) return;
  ahead_.reset();
  ahead_ = Ahead{slot, turn, copy(slot)};
}

std::shared_ptr<const DeviceBatch> DeviceCopies::take(std::uint32_t slot, std::chrono::nanoseconds at_most) {
  begin(slot);
  ahead_->batch->use_on(stream(), at_most);
  return std::exchange(ahead_, std::nullopt)->batch;
}

std::shared_ptr<const DeviceBatch> DeviceCopies::copy(std::uint32_t slot) {
  const contract::RingShape& shape = memory_->ring().shape();
  const std::byte* payload = memory_->ring().payload(slot);
  Device& device = buffers_->device();
  DeviceBuffer buffer = buffers_->take(stream());
  try {
    for (const auto& mark : buffer.after) device.order(device.own_stream(), *mark, {});
    buffer.after.clear();
    for (std::uint32_t t = 0; t < shape.tensors; ++t) {
      const contract::TensorEntry& entry = shape.tensor[t];
      if (is_column(entry))
        std::memcpy(buffer.columns.data() + column_offset(shape, entry), payload + entry.offset, bytes_of(entry));
    }
    // All tensors of a slot lie side by side: one run of bytes is the whole batch.
    const CopyPiece piece{buffer.memory.get(), payload, used_bytes(shape)};
    if (!memory_->registered()) ++staged_;
    memory_->begin_copy(slot);
    device.copy({&piece, 1});
    std::shared_ptr<Event> copied = device.record();
    copied->then([memory = memory_.get(), slot] { memory->copied(slot); });
    return std::make_shared<const DeviceBatch>(buffers_, std::move(buffer), std::move(copied));
  } catch (...) {
    // How far the device got is not known: neither the slot nor the buffer is used again.
    DeviceBuffers::keep(std::move(buffer));
    throw;
  }
}

}  // namespace feedring
