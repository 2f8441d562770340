// SPDX-License-Identifier: Apache-2.0
// A place in a slot that a picture is written to. Where FEEDRING_CANARIES is set, in a build with fault points, it is
// written beside the slot first, with known bytes around it: a slot's own neighbours are other producers' rows, where a
// step too far would look like their fault. The tests set it; a copy of each picture is no part of what benches
// measure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <feedring/error.hpp>
#include <vector>

namespace feedring {

/// Whether this process guards what it writes into slots. Constant in a build without fault points.
[[nodiscard]] inline bool canaries_wanted() noexcept {
#ifdef FEEDRING_FAULT_POINTS
  static const bool wanted = std::getenv("FEEDRING_CANARIES") != nullptr;
  return wanted;
#else
  return false;
#endif
}

class GuardedBytes {
 public:
  GuardedBytes(std::uint8_t* slot, std::size_t bytes, bool guarded = canaries_wanted()) : slot_(slot), bytes_(bytes) {
    if (guarded) memory_.assign(bytes + 2 * kGuard, kKnown);
  }
  /// Where to write in the slot's place: the slot itself where nothing is guarded.
  [[nodiscard]] std::uint8_t* data() noexcept { return memory_.empty() ? slot_ : memory_.data() + kGuard; }
  /// Puts it into the slot. Throws Error(kInternal) where something was written around it.
  void put() const {
    if (memory_.empty()) return;
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

}  // namespace feedring
