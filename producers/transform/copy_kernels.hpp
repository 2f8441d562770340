// SPDX-License-Identifier: Apache-2.0
// Pixels from a store of decoded pictures into a slot. Reached through Pipeline.
#pragma once

#include <cstddef>
#include <cstdint>

namespace feedring::kernels {

/// What memcpy does, from many places of memory at once. `past_caches`: a line of a slot is not read before it is
/// overwritten whole, and does not push out what this processor works with; worth it where the slots are too many to
/// stay in the cache until they are read. The bytes are there before anything that the caller stores afterwards.
void copy(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to, bool past_caches);

}  // namespace feedring::kernels
