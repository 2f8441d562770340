// SPDX-License-Identifier: Apache-2.0
// Pixels from a store of decoded pictures into a slot. Reached through Pipeline.
#pragma once

#include <cstddef>
#include <cstdint>

namespace feedring::kernels {

/// What memcpy does, past the caches: a line of a slot is not read before it is overwritten whole, and does not push
/// out what this processor works with. Worth it where the reader comes late or is a device. The bytes are there before
/// anything that the caller stores afterwards.
void copy_past_caches(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to);

}  // namespace feedring::kernels
