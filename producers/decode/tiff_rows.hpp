// SPDX-License-Identifier: Apache-2.0
// Rows of TIFF samples, of the depths and colours that are supported, to 8 bit RGB. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "producers/decode/image.hpp"

namespace feedring {

/// What the samples of a picture mean (TIFF 6.0, section 8; the numbers of PhotometricInterpretation stand behind).
struct TiffSamples {
  enum class Colour : std::uint8_t { kGray /*0, 1*/, kRgb /*2*/, kPalette /*3*/, kCmyk /*5*/ };
  enum class Alpha : std::uint8_t { kNone, kPlain, kMultiplied };
  Colour colour = Colour::kGray;
  Alpha alpha = Alpha::kNone;
  bool white_is_zero = false;  // of gray
  std::uint32_t bits = 8;
  const std::uint16_t* palette[3] = {nullptr, nullptr, nullptr};  // 2^bits entries each

  /// Samples of a pixel that are looked at, alpha included.
  [[nodiscard]] std::size_t used() const noexcept;
};

/// Where the samples of a row of a strip or tile lie. Samples of less than 8 bits, and of 12, are alone in their pixel.
struct TiffRow {
  const std::uint8_t* channel[5];  ///< the first sample of each used channel
  std::size_t step;                ///< bytes from pixel to pixel; 8 bit samples and wider
};

/// Pixels `first`, `first` + 1, … (`count` of them) of a row. Gray of more than 8 bits is rounded, colours of 16 bits
/// give their high byte.
void tiff_row_to_rgb(const TiffSamples& samples, const TiffRow& row, std::size_t first, std::size_t count,
                     const std::optional<Rgb>& background, std::uint8_t* out);

}  // namespace feedring
