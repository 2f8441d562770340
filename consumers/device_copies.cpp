// SPDX-License-Identifier: Apache-2.0
#include "consumers/device_copies.hpp"

#include <cstring>
#include <feedring/error.hpp>
#include <utility>

#include "consumers/batch_content.hpp"

namespace feedring {
namespace {

constexpr std::chrono::seconds kFirstCopy{20};

}  // namespace

DeviceCopies::DeviceCopies(std::shared_ptr<RingMemory> memory, std::function<StreamHandle()> stream,
                           const std::optional<FinishInfo>& finish)
    : memory_(std::move(memory)), ask_stream_(std::move(stream)), stream_(ask_stream_ ? ask_stream_() : nullptr) {
  const contract::RingShape& shape = memory_->ring().shape();
  if (finish) finishing_.emplace(memory_->what(), shape, *finish);
  buffers_ = std::make_shared<DeviceBuffers>(
      memory_->device(), finishing_ ? finishing_->buffer_bytes() : used_bytes(shape), column_bytes(shape),
      finishing_ ? finishing_->finished() : std::vector<contract::TensorEntry>());
  if (!finishing_) return;
  Device& device = buffers_->device();
  const std::vector<std::byte>& constants = finishing_->constants();
  constants_ = device.allocate(constants.size());
  // Whatever the allocator's memory was used for on the program's stream comes first.
  device.order(device.own_stream(), *device.mark(stream_), {});
  const CopyPiece piece{constants_.get(), constants.data(), constants.size()};
  device.copy({&piece, 1});
  // The only wait: as long as no buffer has the constants, nobody else asks whether their copy has ended.
  if (!device.record()->wait(kFirstCopy)) {
    DeviceBuffers::keep({.memory = constants_, .constants = nullptr, .after = {}, .columns = {}});
    throw Error(ErrorKind::kDeadline,
                std::string(device.name()) + ": a copy of some bytes to the device did not end within 20 s");
  }
  finishing_->prepare(device);  // now is the time to say that it cannot
}

DeviceCopies::~DeviceCopies() {
  // Left alone in a forked child, as in ~DeviceBatch: an allocator of the program's may need a lock.
  if (!memory_->is_mine()) (void)new std::shared_ptr<std::byte>(std::move(constants_));
}

void DeviceCopies::begin(std::uint32_t slot) {
  const std::uint32_t turn = memory_->ring().slot(slot).turn;
  if (ahead_ && ahead_->slot == slot && ahead_->turn == turn) return;
  ahead_.reset();
  ahead_ = Ahead{slot, turn, copy(slot)};
}

std::shared_ptr<const DeviceBatch> DeviceCopies::take(std::uint32_t slot, std::chrono::nanoseconds at_most) {
  if (ask_stream_) stream_ = ask_stream_();
  begin(slot);
  ahead_->batch->use_on(stream_, at_most);
  return std::exchange(ahead_, std::nullopt)->batch;
}

std::shared_ptr<const DeviceBatch> DeviceCopies::copy(std::uint32_t slot) {
  const contract::RingShape& shape = memory_->ring().shape();
  const std::byte* payload = memory_->ring().payload(slot);
  Device& device = buffers_->device();
  DeviceBuffer buffer = buffers_->take(stream_);
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
    if (finishing_) {
      buffer.constants = constants_;
      // Before the event, which is later by this for the slot: but then whoever waits for the copies waits for all
      // that is done in the buffer.
      finishing_->run(device, payload, buffer.memory.get(), constants_.get());
    }
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
