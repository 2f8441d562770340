// SPDX-License-Identifier: Apache-2.0
// PBM, PGM and PPM, plain (P1 to P3) and raw (P4 to P6), read by code of our own: no library is kept for them. Format:
// netpbm's pages pbm(5), pgm(5), ppm(5). Of a file with several pictures the first counts. Internal to this folder; the
// door is decoder.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "producers/decode/image.hpp"

namespace feedring {

class Arena;

/// The size that the header states.
Fault pnm_header(std::span<const std::uint8_t> bytes, Size& size);

/// The pixels of `box`, in memory of the arena. The arena was just reset; `size` is what pnm_header() gave. Whether the
/// file is whole does not depend on the box. Samples up to a maximum other than 255 become round(v / maximum * 255).
Fault pnm_pixels(std::span<const std::uint8_t> bytes, Size size, Box box, const DecodeOptions& options, Arena& arena,
                 RgbView& out);

}  // namespace feedring
