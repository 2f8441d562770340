// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/decoder.hpp"

#include <fmt/format.h>

#include "producers/decode/bmp.hpp"
#include "producers/decode/exif.hpp"
#include "producers/decode/gif.hpp"
#include "producers/decode/orient.hpp"
#include "producers/decode/png.hpp"
#include "producers/decode/pnm.hpp"
#include "producers/decode/tiff.hpp"
#include "producers/decode/webp.hpp"

namespace feedring {
namespace {

// What reading a header may take: tables and contexts, nothing that grows with the picture.
constexpr std::size_t kHeaderMemory = std::size_t{1} << 20;

// What decoding may take. Per pixel at most 3 bytes of RGB, 4 of a CMYK row and 8 of coefficients (a progressive CMYK
// JPEG: 4 components of 16 bits); PNG keeps three rows of up to 8 bytes a pixel, which is 24 where the picture is one
// row; TIFF keeps a strip or tile of up to 12 bytes a pixel; a picture that is turned has 3 more. The constant covers
// strips, blocks at the edges, zlib's window and texts (see kMaxChunkMemory in png.cpp).
constexpr std::size_t kBytesPerPixel = 32;
constexpr std::size_t kFixedMemory = std::size_t{160} << 20;

std::uint64_t pixels_of(Size size) {
  return static_cast<std::uint64_t>(size.width) * static_cast<std::uint64_t>(size.height);
}

std::size_t memory_for(Size size) { return kFixedMemory + kBytesPerPixel * pixels_of(size); }

bool is_inside(Box box, Size size) {
  return box.x >= 0 && box.y >= 0 && box.width > 0 && box.height > 0 && box.width <= size.width - box.x &&
         box.height <= size.height - box.y;
}

}  // namespace

Fault Decoder::probe(std::span<const std::uint8_t> bytes, std::uint64_t max_pixels, ImageInfo& out,
                     const DecodeOptions& options) {
  arena_.reset(kHeaderMemory);
  const Format format = sniff(bytes);
  Size size;
  std::uint8_t orientation = 1;
  Fault fault;
  switch (format) {
    case Format::kJpeg: fault = jpeg_.header(bytes, arena_, size, options.accept_damaged); break;
    case Format::kPng: fault = png_header(bytes, arena_, size); break;
    case Format::kWebp: fault = webp_header(bytes, size); break;
    case Format::kGif: fault = gif_header(bytes, size); break;
    case Format::kBmp: fault = bmp_header(bytes, size); break;
    case Format::kTiff: fault = tiff_header(bytes, size, orientation); break;
    case Format::kPnm: fault = pnm_header(bytes, size); break;
    case Format::kUnknown: return describe_unknown(bytes);
  }
  if (fault) return fault;
  if (pixels_of(size) > max_pixels) {
    return fmt::format("{} x {} pixels are more than max_pixels = {}", size.width, size.height, max_pixels);
  }
  if (options.exif_orientation && format != Format::kTiff) orientation = exif_orientation(bytes, format);
  out = {format, turned(size, orientation), orientation, options};
  return std::nullopt;
}

Fault Decoder::decode(std::span<const std::uint8_t> bytes, const ImageInfo& info, Box box, RgbView& out) {
  if (!is_inside(box, info.size)) {
    return fmt::format("the box {},{} {} x {} is not inside the image of {} x {}", box.x, box.y, box.width, box.height,
                       info.size.width, info.size.height);
  }
  arena_.reset(memory_for(info.size));
  const Size size = turned(info.size, info.orientation);  // as the file has it
  box = stored_box(box, size, info.orientation);
  RgbView view;
  Fault fault;
  if (info.indices && info.format != Format::kPng) return no_indices();
  switch (info.format) {
    case Format::kJpeg: fault = jpeg_pixels(bytes, info, size, box, view); break;
    case Format::kPng: fault = png_pixels(bytes, size, box, info.options, info.indices, arena_, view); break;
    case Format::kWebp: fault = webp_pixels(bytes, size, box, info.options, arena_, view); break;
    case Format::kGif: fault = gif_pixels(bytes, size, box, info.options, arena_, view); break;
    case Format::kBmp: fault = bmp_pixels(bytes, size, box, info.options, arena_, view); break;
    case Format::kTiff: fault = tiff_pixels(bytes, size, box, info.options, arena_, view); break;
    case Format::kPnm: fault = pnm_pixels(bytes, size, box, info.options, arena_, view); break;
    case Format::kUnknown: return describe_unknown(bytes);
  }
  if (!fault) fault = orient(info.orientation, arena_, view);
  if (!fault) out = view;
  return fault;
}

/// By our own decoder where it takes the file; it gives what libjpeg would.
Fault Decoder::jpeg_pixels(std::span<const std::uint8_t> bytes, const ImageInfo& info, Size size, Box box,
                           RgbView& out) {
  if (crop_.pixels(bytes, size, box, arena_, out, shelf_)) return std::nullopt;
  arena_.reset(memory_for(info.size));
  return jpeg_.pixels(bytes, size, box, info.options.accept_damaged, arena_, out);
}

}  // namespace feedring
