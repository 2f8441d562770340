// SPDX-License-Identifier: Apache-2.0
// Bytes of an image file -> the RGB pixels of a box of it.
//
// The pixels are those that Pillow gives for Image.open(f).convert("RGB") and a crop, byte for byte; the exceptions are
// listed in docs/formats.md. DecodeOptions change what happens to alpha, EXIF orientation and damage.
//
// What counts as a fault, by default. Everything that the libraries call an error, and every warning that leaves the
// pixels in doubt: a truncated or corrupt scan, a wrong checksum, a missing end. Harmless remarks are none: bytes after
// the end of the image, stray bytes between JPEG segments, an unknown Adobe transform or JFIF version, an odd order of
// progressive scans, an unknown tag of a TIFF. Damage that no decoder can see (changed bytes that still are a valid
// scan) is delivered.
//
// Whether a file is faulty depends on nothing but its bytes, whatever the box, with two exceptions. Of a TIFF only the
// strips and tiles that the box touches are read. Of a JPEG of one scan truncation is always seen (a file without an
// end-of-image marker is refused), but other damage is met if and only if it lies above or in the last row of MCUs (8
// or 16 pixels high, one more row with vertical chroma subsampling) that the box touches: columns do not matter, and a
// box that ends lower never succeeds where a higher one failed. Reading every JPEG to its end takes 16 % longer for
// RandomResizedCrop boxes of photographs.
#pragma once

#include <cstdint>
#include <span>

#include "producers/decode/arena.hpp"
#include "producers/decode/image.hpp"
#include "producers/decode/jpeg.hpp"
#include "producers/decode/seekjpeg/crop_decoder.hpp"
#include "producers/decode/sniff.hpp"

namespace feedring {

struct ImageInfo {
  Format format = Format::kUnknown;
  Size size;                     ///< as it is delivered: turned, where `orientation` says so
  std::uint8_t orientation = 1;  ///< how the stored picture is to be turned: EXIF's numbers
  DecodeOptions options{};       ///< by which it is to be read
  /// To be set by who wants it: of a PNG of gray or palette values, the gray of each pixel's value or index; what is no
  /// such file is a fault.
  bool indices = false;
};

/// Decodes one image after the other for one thread; any instance may be used by one thread at a time. Keeps the memory
/// of earlier images (see Arena), so that the steady state neither allocates nor takes page faults.
class Decoder {
 public:
  /// Throws Error(kInternal) when libjpeg cannot be used.
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Format and size, from the header alone. A picture of more than `max_pixels` is a fault here, before anything of
  /// its size is allocated. Invalidates the view of an earlier decode().
  Fault probe(std::span<const std::uint8_t> bytes, std::uint64_t max_pixels, ImageInfo& out,
              const DecodeOptions& options = {});

  /// Where seek indices of the JPEGs decoded from now on are looked for and kept; nullptr: nowhere, as at first.
  void use_shelf(seekjpeg::Shelf* shelf) noexcept { shelf_ = shelf; }

  /// The pixels of `box`, which lies inside the image, of bytes that probe() accepted as `info`. On success `out` views
  /// memory of this decoder, valid until the next call, with kSlack readable bytes past the last row; its rows may be
  /// farther apart than 3 * width. On a fault `out` is untouched.
  Fault decode(std::span<const std::uint8_t> bytes, const ImageInfo& info, Box box, RgbView& out);

 private:
  Fault jpeg_pixels(std::span<const std::uint8_t> bytes, const ImageInfo& info, Size size, Box box, RgbView& out);

  Arena arena_;
  JpegDecoder jpeg_;
  seekjpeg::CropDecoder crop_;
  seekjpeg::Shelf* shelf_ = nullptr;
};

}  // namespace feedring
