// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/byte_arena.hpp"

#include <cstring>

namespace feedring {

ByteArena::ByteArena(std::size_t capacity)
    : memory_(std::make_unique_for_overwrite<std::uint8_t[]>(capacity)), capacity_(capacity) {
  std::memset(memory_.get(), 0, capacity);  // takes the page faults now
}

std::optional<std::span<std::uint8_t>> ByteArena::allocate(std::size_t bytes) {
  if (bytes == 0 || bytes > capacity_) return std::nullopt;
  std::size_t begin = 0;
  if (!blocks_.empty()) {
    const std::size_t oldest = blocks_.front().begin;
    const std::size_t newest = blocks_.back().end;
    // The free space is one gap behind the newest block, or two: up to the end, and from 0 to the oldest.
    if (blocks_.back().begin >= oldest) {
      if (capacity_ - newest >= bytes) {
        begin = newest;
      } else if (oldest > bytes) {
        begin = 0;
      } else {
        return std::nullopt;
      }
    } else if (oldest - newest > bytes) {
      begin = newest;
    } else {
      return std::nullopt;
    }
  }
  blocks_.push_back({begin, begin + bytes, true});
  return std::span<std::uint8_t>(memory_.get() + begin, bytes);
}

void ByteArena::free(const std::uint8_t* block) noexcept {
  const auto begin = static_cast<std::size_t>(block - memory_.get());
  for (Block& candidate : blocks_) {
    if (candidate.begin == begin && candidate.live) {
      candidate.live = false;
      break;
    }
  }
  while (!blocks_.empty() && !blocks_.front().live) blocks_.pop_front();
}

}  // namespace feedring
