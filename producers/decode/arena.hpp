// SPDX-License-Identifier: Apache-2.0
// Memory for one image at a time: the decoding libraries and the pixels take from it, nobody gives back, and the next
// image starts over on the same, already touched pages. So the steady state neither allocates nor faults, a library
// that leaves by longjmp cannot leak, and what an image may take has a hard limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace feedring {

/// For one thread. Pages that the last kWindow images did not need go back to the system, so that one giant picture
/// does not stay in a producer for ever.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;  // a cache line, and more than any SIMD code of the libraries asks for
  static constexpr unsigned kWindow = 1024;

  /// Forgets everything taken so far and allows `limit` bytes for the next image. Pointers from before are dead.
  void reset(std::size_t limit);

  /// `bytes` of uninitialised memory, aligned to kAlignment; nullptr beyond the limit or when the system has none.
  /// Never throws: C libraries call it.
  void* take(std::size_t bytes) noexcept;

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const noexcept;
  };
  struct Block {
    std::unique_ptr<std::uint8_t[], Free> memory;
    std::size_t size = 0;
  };
  static Block new_block(std::size_t size) noexcept;

  Block main_;                // kept from image to image
  std::vector<Block> extra_;  // what the present image needed beyond it; merged into main_ by reset()
  std::size_t front_ = 0;     // bytes taken from the newest block
  std::size_t used_ = 0;      // bytes taken in all
  std::size_t limit_ = 0;
  std::size_t peak_ = 0;  // largest used_ in this window
  unsigned images_ = 0;   // resets in this window
};

}  // namespace feedring
