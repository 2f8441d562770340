// SPDX-License-Identifier: Apache-2.0
// The own decoder of baseline JPEG: exactly the pixels that libjpeg-turbo gives for a box, for less, and nothing at all
// where the file is unusual or damaged.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "producers/decode/image.hpp"
#include "producers/decode/seekjpeg/entry.hpp"

namespace feedring {

class Arena;

namespace seekjpeg {

/// For one thread. Keeps the tables of the last image, whose codes most images of a data set share.
class CropDecoder {
 public:
  CropDecoder();
  ~CropDecoder();
  CropDecoder(const CropDecoder&) = delete;
  CropDecoder& operator=(const CropDecoder&) = delete;

  /// The pixels of `box` of a picture of `size`, in memory of the arena. False: this file is libjpeg's, for pixels or
  /// for a word on what is wrong; what was taken from the arena is to be given back. An index on the `shelf` is used,
  /// or made.
  bool pixels(std::span<const std::uint8_t> bytes, Size size, Box box, Arena& arena, RgbView& out,
              Shelf* shelf = nullptr);

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace seekjpeg
}  // namespace feedring
