// SPDX-License-Identifier: Apache-2.0
// A place in a slot that a picture is written to. In a debug build it is written beside the slot first, with known
// bytes around it: a slot's own neighbours are other producers' rows, where a step too far would look like their fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifndef NDEBUG
#include <algorithm>
#include <feedring/error.hpp>
#include <vector>
#endif

namespace feedring {

#ifdef NDEBUG

class GuardedBytes {
 public:
  GuardedBytes(std::uint8_t* slot, std::size_t /*bytes*/) noexcept : slot_(slot) {}
  [[nodiscard]] std::uint8_t* data() const noexcept { return slot_; }
  void put() const noexcept {}

 private:
  std::uint8_t* slot_;
};

#else

class GuardedBytes {
 public:
  GuardedBytes(std::uint8_t* slot, std::size_t bytes)
      : slot_(slot), bytes_(bytes), memory_(bytes + 2 * kGuard, kKnown) {}
  /// Where to write in the slot's place.
  [[nodiscard]] std::uint8_t* data() noexcept { return memory_.data() + kGuard; }
  /// Puts it into the slot. Throws Error(kInternal) where something was written around it.
  void put() const {
    const auto known = [](std::uint8_t byte) { return byte == kKnown; };
    if (!std::all_of(memory_.begin(), memory_.begin() + kGuard, known) ||
        !std::all_of(memory_.end() - kGuard, memory_.end(), known)) {
      throw Error(ErrorKind::kInternal, "a picture was written beyond its place in the slot");
    }
    std::memcpy(slot_, memory_.data() + kGuard, bytes_);
  }

 private:
  static constexpr std::ptrdiff_t kGuard = 64;
  static constexpr std::uint8_t kKnown = 0xA5;

  std::uint8_t* slot_;
  std::size_t bytes_;
  std::vector<std::uint8_t> memory_;
};

#endif

}  // namespace feedring
