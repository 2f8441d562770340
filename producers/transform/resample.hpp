// SPDX-License-Identifier: Apache-2.0
// Antialiased separable resize of 8 bit RGB with exactly the pixels of Pillow's Image.resize (checked against 9.4):
// weights in double precision over a support that grows with the reduction, normalised, rounded to 22 fractional bits;
// first the rows, then the columns, each rounded and clipped to 8 bits; an axis whose length stays is left alone.
// Later Pillows (seen in 13.0, not in 9.4) take the columns first where that is less work, which shows: by 1 at most
// with the filters without negative weights, by more where bicubic and lanczos are clipped between the passes. The
// order here is fixed, since a feed's pixels must not depend on which Pillow is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "producers/decode/image.hpp"
#include "producers/transform/weights.hpp"

namespace feedring {

/// The part of an image of `source` pixels that the part `window` of its resize to `target` depends on.
/// Precondition: sizes positive, window not empty and inside target. The result is never empty.
[[nodiscard]] Box needed_source(Size source, Size target, Box window, Filter filter);

/// One per thread. Keeps its tables and a few rows of scratch: no allocation once the largest sizes were seen.
class Resampler {
 public:
  /// Writes the part `window` of the resize of an image of `source` pixels to `target`, interleaved, rows `out_stride`
  /// bytes apart, exactly window.width * 3 bytes of each (what lies between and behind rows belongs to others).
  /// `pixels` holds the part `have` of the source, which contains needed_source(source, target, window, filter).
  /// `mirrored`: each written row is reversed (a horizontal flip after the resize). A negative stride writes the rows
  /// upwards from `out` (a vertical flip).
  void run(RgbView pixels, Box have, Size source, Size target, Box window, Filter filter, bool mirrored,
           std::uint8_t* out, std::ptrdiff_t out_stride);

 private:
  void run_nearest(RgbView pixels, Box have, Size source, Size target, Box window, bool mirrored, std::uint8_t* out,
                   std::ptrdiff_t out_stride);

  AxisWeights across_;
  AxisWeights down_;
  std::vector<std::uint8_t> ring_;         ///< the rows that the vertical pass still needs, resized across
  std::vector<const std::uint8_t*> taps_;  ///< the rows of one output row
  std::vector<std::int32_t> columns_;      ///< the source columns of the nearest filter
};

}  // namespace feedring
