// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/arena.hpp"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace feedring {
namespace {

constexpr std::size_t kStep = std::size_t{1} << 18;  // blocks come in 256 KiB: few sizes, soon settled

constexpr std::size_t kFirst = std::size_t{1} << 19;  // enough for many crops of a photograph

// Under AddressSanitizer what was not handed out is poisoned, and a gap behind each piece stays so: it knows of blocks
// alone, and would see no step from one piece into the next.
#ifndef __has_feature
#define __has_feature(x) 0  // GCC says it by a macro of its own
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
constexpr std::size_t kGap = Arena::kAlignment;
#else
constexpr std::size_t kGap = 0;
#endif

constexpr std::size_t round_up(std::size_t bytes, std::size_t step) { return (bytes + step - 1) / step * step; }

}  // namespace

void Arena::Free::operator()(std::uint8_t* memory) const noexcept {
  ::operator delete[](memory, std::align_val_t{kAlignment});
}

Arena::Block Arena::new_block(std::size_t size) noexcept {
  Block block;
  block.memory.reset(static_cast<std::uint8_t*>(::operator new[](size, std::align_val_t{kAlignment}, std::nothrow)));
  if (block.memory) block.size = size;
  ASAN_POISON_MEMORY_REGION(block.memory.get(), block.size);
  return block;
}

void Arena::reset(std::size_t limit) {
  limit_ = limit;
  peak_ = std::max(peak_, used_);
  std::size_t wanted = main_.size;
  // Doubled, so that it settles after a few images, although the largest crop of the largest one may come late.
  if (used_ > main_.size || main_.size == 0) wanted = std::max({kFirst, 2 * main_.size, round_up(used_, kStep)});
  if (++images_ == kWindow) {
    if (main_.size > 4 * std::max(round_up(peak_, kStep), kFirst)) wanted = 2 * round_up(peak_, kStep);
    images_ = 0;
    peak_ = 0;
  }
  extra_.clear();
  if (wanted != main_.size) {
    main_ = Block{};  // first, so that old and new are never held together
    main_ = new_block(wanted);
    // Takes the page faults now: else each would come when an image first needs so much, thousands of images later.
    ASAN_UNPOISON_MEMORY_REGION(main_.memory.get(), main_.size);
    if (main_.memory) std::memset(main_.memory.get(), 0, main_.size);
  }
  ASAN_POISON_MEMORY_REGION(main_.memory.get(), main_.size);
  front_ = 0;
  used_ = 0;
}

void* Arena::take(std::size_t bytes) noexcept {
  if (bytes > limit_) return nullptr;  // before rounding: nothing below can overflow
  const std::size_t asked = bytes;
  bytes = round_up(std::max<std::size_t>(bytes, 1), kAlignment);
  if (bytes > limit_ - std::min(used_, limit_)) return nullptr;
  const Block* block = extra_.empty() ? &main_ : &extra_.back();
  if (block->size - front_ < kGap || bytes > block->size - front_ - kGap) {
    Block fresh = new_block(round_up(bytes + kGap, kStep));
    if (!fresh.memory) return nullptr;
    try {
      extra_.push_back(std::move(fresh));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    block = &extra_.back();
    front_ = 0;
  }
  std::uint8_t* taken = block->memory.get() + front_;
  ASAN_UNPOISON_MEMORY_REGION(taken, asked);
  front_ += bytes + kGap;
  used_ += bytes;
  return taken;
}

}  // namespace feedring
