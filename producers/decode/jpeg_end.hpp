// SPDX-License-Identifier: Apache-2.0
// Whether a JPEG has been cut off.
#pragma once

#include <string.h>  // memrchr

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedring {

/// Whether an end-of-image marker follows the header of the first scan. A truncated file has lost it, and it cannot
/// occur inside a scan (there 0xFF is followed by 0 or a restart number). Looking for it from the end is nearly free
/// and does not depend on the box.
inline bool has_end_marker(std::span<const std::uint8_t> scan) noexcept {
  for (std::size_t size = scan.size(); size >= 2;) {
    const auto* found = static_cast<const std::uint8_t*>(memrchr(scan.data() + 1, 0xd9, size - 1));
    if (found == nullptr) return false;
    if (found[-1] == 0xff) return true;
    size = static_cast<std::size_t>(found - scan.data());
  }
  return false;
}

}  // namespace feedring
