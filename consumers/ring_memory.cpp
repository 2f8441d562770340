// SPDX-License-Identifier: Apache-2.0
#include "consumers/ring_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <feedring/error.hpp>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "consumers/settle.hpp"
#include "runtime/event_count.hpp"

namespace feedring {
namespace {

using PoolHeader = contract::PoolHeader<std::atomic>;

// A segment whose size can change would turn our next access into SIGBUS.
int sealed(const std::string& what, int fd) {
  if (!size_is_sealed(fd)) {
    throw Error(ErrorKind::kRefused, fmt::format("{}: the pool sent memory whose size is not sealed", what));
  }
  return fd;
}

// A copy that never ends may still read. Reachable, so that it is no leak by mistake.
void keep_for_ever(RingMemory* memory) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<RingMemory*>;
  const std::lock_guard lock(mutex);
  kept.push_back(memory);
}

}  // namespace

std::shared_ptr<RingMemory> RingMemory::map(const std::string& what, int ring, int pool,
                                            std::shared_ptr<Device> device) {
  return {new RingMemory(what, ring, pool, std::move(device)), [](RingMemory* memory) {
            if (!memory->is_mine()) return;
            if (memory->settle()) {
              delete memory;
            } else {
              keep_for_ever(memory);
              if (memory->registration_) memory->registration_->wait();  // the memory stays, no thread does
            }
          }};
}

RingMemory::RingMemory(const std::string& what, int ring, int pool, std::shared_ptr<Device> device)
    : process_(::getpid()),
      what_(what),
      ring_map_(sealed(what, ring), Mapping::Access::kReadWrite, contract::kPage),
      pool_map_(sealed(what, pool), Mapping::Access::kReadWrite, sizeof(PoolHeader)),
      ring_(ring_map_.data(), read_ring_shape(ring_map_.bytes())),
      status_(find_tensor(ring_.shape(), "status")),
      holders_(std::make_unique<std::atomic<Holder>[]>(ring_.shape().slots)),
      device_(std::move(device)) {
  const std::uint64_t stamp = this->pool().stamp.load(std::memory_order_acquire);
  if (stamp != contract::fingerprint() || this->pool().magic != contract::kPoolMagic) {
    throw Error(
        ErrorKind::kRefused,
        fmt::format("{}: the pool's fingerprint is {:#x} where this build wants {:#x}; pool and trainer must come "
                    "from one build of feedring",
                    what, stamp, contract::fingerprint()));
  }
  if (status_ == nullptr || status_->row_bytes != ring_.shape().parts) {
    throw Error(ErrorKind::kRefused, fmt::format("{}: the ring has no status byte for each part of a row", what));
  }
  if (!device_->copies()) return;
  copying_ = std::make_unique<std::atomic<std::uint32_t>[]>(ring_.shape().slots);
  registration_.emplace(device_, std::span(ring_map_.data(), ring_map_.size()), what);
}

bool RingMemory::is_mine() const noexcept { return ::getpid() == process_; }

void RingMemory::populate_control() const noexcept {
  ring_map_.populate(0, ring_.shape().payload_offset);
  pool_map_.populate(0, sizeof(PoolHeader));
}

void RingMemory::populate_slot(std::uint32_t slot) const noexcept {
  const contract::RingShape& shape = ring_.shape();
  ring_map_.populate(shape.payload_offset + slot * shape.payload_stride, shape.payload_stride);
}

void RingMemory::let_go(const std::shared_ptr<RingMemory>& memory, std::uint32_t slot) noexcept {
  if (!memory->is_mine()) return;
  memory->holders_[slot].store(Holder::kDevice, std::memory_order_relaxed);
  try {
    const std::shared_ptr<Event> event = memory->device_->record();
    if (event->fired()) {
      memory->release(slot);
    } else {
      event->then([memory, slot] { memory->release(slot); });
    }
  } catch (const std::exception&) {
    // Nothing says that the device is done, so the slot stays out of use; next() reports when none is left.
  }
}

void RingMemory::release(std::uint32_t slot) const noexcept {
  const std::uint64_t calls = futex_calls_of_this_thread();
  ring_.release(slot);
  // Release: pairs with holder()'s acquire, beside the ring's own R3.
  holders_[slot].store(Holder::kNobody, std::memory_order_release);
  EventCount(ring_.header().ready).notify_one();
  ring_.header().futex_calls.fetch_add(futex_calls_of_this_thread() - calls, std::memory_order_relaxed);
}

void RingMemory::hand_out(std::uint32_t slot) noexcept {
  if (copying_ == nullptr) {
    holders_[slot].store(Holder::kUser, std::memory_order_relaxed);
  } else if (copying_[slot].fetch_add(kDelivered, std::memory_order_acq_rel) == 0) {
    copying_[slot].store(0, std::memory_order_relaxed);  // the copy was faster
    release(slot);
  }
}

void RingMemory::begin_copy(std::uint32_t slot) noexcept {
  copies_under_way_.fetch_add(1, std::memory_order_relaxed);
  copying_[slot].fetch_add(kCopy, std::memory_order_relaxed);
}

void RingMemory::copied(std::uint32_t slot) noexcept {
  const std::uint32_t left = copying_[slot].fetch_sub(kCopy, std::memory_order_acq_rel) - kCopy;
  if (left == kDelivered) {
    copying_[slot].store(0, std::memory_order_release);
    release(slot);
  } else if (left == 0) {
    // Not delivered yet, or not wanted any more: then the owner waits for this to take the slot back.
    EventCount(ring_.header().ready).notify_one();
  }
  copies_under_way_.fetch_sub(1, std::memory_order_release);  // the last touch: settle() may end this memory now
}

bool RingMemory::settle() const noexcept {
  return settled(*device_, [this] { return copies_under_way_.load(std::memory_order_acquire) == 0; });
}

}  // namespace feedring
