// SPDX-License-Identifier: Apache-2.0
#include "consumers/device_copies.hpp"

#include <cstring>
#include <feedring/error.hpp>
#include <utility>

#include "consumers/batch_content.hpp"

namespace feedring {
namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::chrono::seconds kFirstCopy{20};

// The images as they are after finishing, behind the payload that was copied.
std::optional<contract::TensorEntry> finished_images(const RingMemory& memory,
                                                     const std::optional<FinishTable>& finish) {
  if (!finish) return std::nullopt;
  const contract::RingShape& shape = memory.ring().shape();
  const contract::TensorEntry* images = find_tensor(shape, "images");
  // From the pool, like the table: copied, checked, then used.
  if (images == nullptr || images->dimensions != 4 || images->shape[1] != 3 || images->strides[1] != 1 ||
      images->dtype != static_cast<std::uint32_t>(Dtype::kUint8)) {
    throw Error(ErrorKind::kRefused,
                memory.what() + ": the pool wants images finished that are no 8 bit interleaved RGB");
  }
  contract::TensorEntry finished = *images;
  finished.dtype = static_cast<std::uint32_t>(finish->dtype);
  finished.row_bytes = images->row_bytes * bytes_of(finish->dtype);
  finished.offset = (used_bytes(shape) + kAlignment - 1) / kAlignment * kAlignment;
  if (finish->layout == Layout::kNchw) {
    finished.strides[1] = finished.shape[2] * finished.shape[3];
    finished.strides[2] = finished.shape[3];
    finished.strides[3] = 1;
  }
  return finished;
}

std::shared_ptr<DeviceBuffers> make_buffers(const RingMemory& memory, const std::optional<FinishTable>& finish) {
  const auto finished = finished_images(memory, finish);
  const contract::RingShape& shape = memory.ring().shape();
  return std::make_shared<DeviceBuffers>(memory.device(),
                                         finished ? finished->offset + bytes_of(*finished) : used_bytes(shape),
                                         column_bytes(shape), finished);
}

}  // namespace

DeviceCopies::DeviceCopies(std::shared_ptr<RingMemory> memory, std::function<StreamHandle()> stream,
                           const std::optional<FinishTable>& finish)
    : memory_(std::move(memory)),
      ask_stream_(std::move(stream)),
      stream_(ask_stream_ ? ask_stream_() : nullptr),
      buffers_(make_buffers(*memory_, finish)) {
  if (!finish) return;
  Device& device = buffers_->device();
  finish_table_ = device.allocate(sizeof finish->bits);
  // Whatever the allocator's memory was used for on the program's stream comes first.
  device.order(device.own_stream(), *device.mark(stream_), {});
  const CopyPiece piece{finish_table_.get(), reinterpret_cast<const std::byte*>(finish->bits.data()),
                        sizeof finish->bits};
  device.copy({&piece, 1});
  // The only wait: as long as no buffer has the table, nobody else asks whether its copy has ended.
  if (!device.record()->wait(kFirstCopy)) {
    DeviceBuffers::keep({.memory = finish_table_, .table = nullptr, .after = {}, .columns = {}});
    throw Error(ErrorKind::kDeadline,
                std::string(device.name()) + ": a copy of some bytes to the device did not end within 20 s");
  }
  const contract::TensorEntry& images = *buffers_->finished();
  finish_.table = finish_table_.get();
  finish_.pixels = images.shape[2] * images.shape[3];
  finish_.element_bytes = bytes_of(finish->dtype);
  finish_.planar = finish->layout == Layout::kNchw;
  device.finish(finish_);  // of no images: now is the time to say that it cannot
  finish_.images = images.shape[0];
}

DeviceCopies::~DeviceCopies() {
  // Left alone in a forked child, as in ~DeviceBatch: an allocator of the program's may need a lock.
  if (!memory_->is_mine()) (void)new std::shared_ptr<std::byte>(std::move(finish_table_));
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
    if (finish_table_) {
      buffer.table = finish_table_;
      // Before the event, which is later by this for the slot: but then whoever waits for the copies waits for all
      // that is done in the buffer.
      FinishWork work = finish_;
      work.from = buffer.memory.get() + find_tensor(shape, "images")->offset;
      work.to = buffer.memory.get() + buffers_->finished()->offset;
      device.finish(work);
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
