// SPDX-License-Identifier: Apache-2.0
// Waiting at the end of a feed for what its device is still at. A device may have seconds of the program's own work
// before ours; one that has failed will never come to it.
#pragma once

#include <chrono>
#include <exception>
#include <feedring/device.hpp>
#include <thread>

namespace feedring {

/// Longest such wait; beyond it a device that has not failed, but does not get on either, counts as lost.
inline constexpr std::chrono::seconds kDevicePatience{10};

/// Waits until done() is true; false where the device failed or the patience is over. `done` does not block.
template <class Done>
[[nodiscard]] bool settled(const Device& device, Done&& done) noexcept {
  constexpr std::chrono::milliseconds kAskDevice{100};
  const auto begin = std::chrono::steady_clock::now();
  auto ask = begin + kAskDevice;
  while (!done()) {
    const auto now = std::chrono::steady_clock::now();
    if (now - begin >= kDevicePatience) return false;
    if (now >= ask) {
      try {
        if (!device.failure().empty()) return false;
      } catch (const std::exception&) {
        return false;  // it cannot even be asked
      }
      ask = now + kAskDevice;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

}  // namespace feedring
