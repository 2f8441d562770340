// SPDX-License-Identifier: Apache-2.0
// A circular arena for the bytes of files that wait for the decoder: one mapping, touched once, so that reading takes
// no page fault and a producer's memory does not grow with the largest file it met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

namespace feedring {

/// Blocks are given in a circle and may be freed in any order; space comes back once the oldest are free. Not
/// thread-safe: the decoder thread alone calls it.
class ByteArena {
 public:
  explicit ByteArena(std::size_t capacity);

  /// `bytes` bytes, or nullopt when the circle is too full. Bytes of a block keep their address until freed.
  [[nodiscard]] std::optional<std::span<std::uint8_t>> allocate(std::size_t bytes);
  void free(const std::uint8_t* block) noexcept;

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  struct Block {
    std::size_t begin;
    std::size_t end;
    bool live;
  };

  std::unique_ptr<std::uint8_t[]> memory_;
  std::size_t capacity_;
  std::deque<Block> blocks_;  // oldest first
};

}  // namespace feedring
