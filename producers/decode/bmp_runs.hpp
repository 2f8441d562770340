// SPDX-License-Identifier: Apache-2.0
// The run lengths of BMP (BI_RLE8 and BI_RLE4) to one byte a pixel. Internal to this folder.
#pragma once

#include <cstdint>
#include <span>

#include "producers/decode/image.hpp"

namespace feedring {

class Arena;

/// The indices of the whole picture, in the order of the file's rows, in memory of the arena. `at` is where the runs
/// begin in the file; `nibbles` says that they hold two pixels a byte. Runs that end before the picture is full are a
/// fault, unless `accept_damaged`: then the rest is index 0. What the runs mean is what Pillow takes them for: those
/// too long for their row are cut, and what is skipped is index 0.
Fault unpack_bmp_runs(std::span<const std::uint8_t> file, std::size_t at, bool nibbles, Size size, bool accept_damaged,
                      Arena& arena, std::span<const std::uint8_t>& indices);

}  // namespace feedring
