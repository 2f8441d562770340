// SPDX-License-Identifier: Apache-2.0
// Inner loops of Finish, compiled for several instruction sets and chosen at run time. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace feedring::kernels {

/// Interleaved RGB to three planes: exactly `pixels` bytes each.
void split_channels(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* red, std::uint8_t* green,
                    std::uint8_t* blue);

}  // namespace feedring::kernels
