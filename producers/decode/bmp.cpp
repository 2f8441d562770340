// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/bmp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "producers/decode/arena.hpp"
#include "producers/decode/blend.hpp"
#include "producers/decode/bmp_runs.hpp"
#include "producers/decode/byte_order.hpp"
#include "producers/decode/palette.hpp"
#include "producers/decode/pixels.hpp"

namespace feedring {
namespace {

using Bytes = std::span<const std::uint8_t>;

enum Compression : std::uint32_t { kNone = 0, kRuns8 = 1, kRuns4 = 2, kBitFields = 3 };

struct Header {
  Size size;
  bool top_down = false;
  std::uint32_t bits = 0;
  std::uint32_t compression = kNone;
  std::uint32_t colours = 0;      // entries of the palette
  std::uint32_t entry_bytes = 4;  // of the palette
  std::size_t palette_at = 0;
  std::size_t pixels_at = 0;
  std::array<std::uint32_t, 4> masks{};  // red, green, blue, alpha
};

constexpr std::size_t kFileHeader = 14;
constexpr std::array<std::uint32_t, 4> kMasks555 = {0x7c00, 0x3e0, 0x1f, 0};
constexpr std::array<std::uint32_t, 4> kMasks888 = {0xff0000, 0xff00, 0xff, 0};

Fault too_short() { return "truncated BMP: the file ends within its header"; }

Fault read_masks(Bytes bytes, std::uint32_t header_bytes, Header& header) {
  if (header.bits != 16 && header.bits != 32)
    return fmt::format("a BMP of {} bits cannot have bit fields", header.bits);
  // They follow the header of 40 bytes, where longer ones have them; only these have one for alpha.
  const std::size_t count = header_bytes >= 56 ? 4 : 3;
  constexpr std::size_t kAt = kFileHeader + 40;
  if (bytes.size() < kAt + 4 * count) return too_short();
  for (std::size_t i = 0; i < count; ++i) header.masks[i] = little_32(bytes.data() + kAt + 4 * i);
  // Written by some programs for what is the usual order.
  if (header.masks == std::array<std::uint32_t, 4>{}) header.masks = {0xff0000, 0xff00, 0xff, 0xff000000};
  if (header.bits == 16) header.masks[3] = 0;  // as in Pillow, alpha counts in 32 bits only
  return std::nullopt;
}

Fault read_header(Bytes bytes, Header& header) {
  if (bytes.size() < kFileHeader + 4) return too_short();
  const std::uint32_t header_bytes = little_32(bytes.data() + kFileHeader);
  if (bytes.size() < kFileHeader + std::uint64_t{header_bytes}) return too_short();
  const std::uint8_t* at = bytes.data() + kFileHeader;
  std::int64_t width = 0;
  std::int64_t height = 0;
  switch (header_bytes) {
    case 12:
      width = little_16(at + 4);
      height = little_16(at + 6);
      header.bits = little_16(at + 10);
      header.entry_bytes = 3;
      break;
    case 40:
    case 52:
    case 56:
    case 64:
    case 108:
    case 124:
      width = static_cast<std::int32_t>(little_32(at + 4));
      height = static_cast<std::int32_t>(little_32(at + 8));
      header.bits = little_16(at + 14);
      header.compression = little_32(at + 16);
      header.colours = little_32(at + 32);
      break;
    default: return fmt::format("a BMP header of {} bytes is not supported", header_bytes);
  }
  header.top_down = height < 0;
  if (header.top_down) height = -height;
  if (width <= 0 || height == 0 || height > INT32_MAX) return fmt::format("{} x {} pixels are none", width, height);
  header.size = {static_cast<std::int32_t>(width), static_cast<std::int32_t>(height)};

  if (header.bits != 1 && header.bits != 4 && header.bits != 8 && header.bits != 16 && header.bits != 24 &&
      header.bits != 32) {
    return fmt::format("a BMP of {} bits a pixel is not supported", header.bits);
  }
  const bool runs_fit =
      (header.compression == kRuns8 && header.bits == 8) || (header.compression == kRuns4 && header.bits == 4);
  const bool fields = header.compression == kBitFields && header_bytes != 64;  // OS/2's 3 is a fax code
  if (header.compression != kNone && !runs_fit && !fields) {
    return fmt::format("BMP compression {} in {} bits is not supported", header.compression, header.bits);
  }
  header.masks = header.bits == 16 ? kMasks555 : kMasks888;
  if (fields) {
    if (Fault fault = read_masks(bytes, header_bytes, header)) return fault;
  }
  header.palette_at = kFileHeader + header_bytes;
  header.pixels_at = little_32(bytes.data() + 10);
  if (header.bits <= 8) {
    if (header.colours == 0) header.colours = 1u << header.bits;
    if (header.colours > 65536) return fmt::format("a BMP palette of {} colours is not supported", header.colours);
    // An offset that leaves no room for the palette means the place behind it.
    if (header.pixels_at == header.palette_at) header.pixels_at += std::size_t{header.entry_bytes} * header.colours;
  }
  return std::nullopt;
}

/// As in Pillow, an index beyond the file's palette is black; but where the palette is the first grays in their order,
/// every index is a gray.
Palette read_palette(Bytes bytes, const Header& header) {
  Palette palette;
  bool is_grays = true;
  for (std::size_t i = 0; i < palette.size(); ++i) {
    const std::size_t at = header.palette_at + header.entry_bytes * i;
    if (i >= header.colours || bytes.size() < at + 3) break;
    const auto gray = static_cast<std::uint8_t>(i);
    palette[i] = {bytes[at + 2], bytes[at + 1], bytes[at]};
    is_grays = is_grays && palette[i] == Rgb{gray, gray, gray};
  }
  if (is_grays) palette = gray_ramp();
  return palette;
}

/// One channel of a pixel with bit fields, to 8 bits as Pillow does it: rounded down.
std::uint8_t field_of(std::uint32_t pixel, std::uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  return static_cast<std::uint8_t>(std::uint64_t{(pixel & mask) >> shift} * 255 / (mask >> shift));
}

void put_row(const std::uint8_t* row, const Header& header, const Palette& palette, Box box,
             const std::optional<Rgb>& background, std::uint8_t* out) {
  const auto first = static_cast<std::size_t>(box.x);
  const auto past = first + static_cast<std::size_t>(box.width);
  for (std::size_t x = first; x < past; ++x, out += 3) {
    if (header.bits <= 8) {
      const std::size_t bit = x * header.bits;
      const unsigned index = row[bit / 8] >> (8 - header.bits - bit % 8) & ((1u << header.bits) - 1);
      put_rgba(palette[index], 255, std::nullopt, out);
    } else if (header.bits == 24) {
      put_rgba({row[3 * x + 2], row[3 * x + 1], row[3 * x]}, 255, std::nullopt, out);
    } else {
      const std::uint32_t pixel = header.bits == 16 ? little_16(row + 2 * x) : little_32(row + 4 * x);
      const auto& masks = header.masks;
      const Rgb colour{field_of(pixel, masks[0]), field_of(pixel, masks[1]), field_of(pixel, masks[2])};
      put_rgba(colour, masks[3] == 0 ? 255 : field_of(pixel, masks[3]), background, out);
    }
  }
}

}  // namespace

Fault bmp_header(Bytes bytes, Size& size) {
  Header header;
  if (Fault fault = read_header(bytes, header)) return fault;
  size = header.size;
  return std::nullopt;
}

Fault bmp_pixels(Bytes bytes, Size size, Box box, const DecodeOptions& options, Arena& arena, RgbView& out) {
  Header header;
  if (Fault fault = read_header(bytes, header)) return fault;
  if (header.size != size) return "the file changed while it was read";
  const std::size_t stride = std::size_t{3} * box.width;
  auto* rgb = take_rgb(arena, {box.width, box.height});
  if (rgb == nullptr) return no_memory({box.width, box.height});

  Bytes pixels = bytes.subspan(std::min(header.pixels_at, bytes.size()));
  std::size_t row_bytes = (std::size_t{header.bits} * size.width + 31) / 32 * 4;
  const std::size_t used_bytes = (std::size_t{header.bits} * size.width + 7) / 8;  // the last row needs no padding
  if (header.compression == kRuns8 || header.compression == kRuns4) {
    Bytes indices;
    const bool nibbles = header.compression == kRuns4;
    if (Fault fault = unpack_bmp_runs(bytes, header.pixels_at, nibbles, size, options.accept_damaged, arena, indices)) {
      return fault;
    }
    pixels = indices;
    header.bits = 8;
    row_bytes = static_cast<std::size_t>(size.width);
  } else if (!options.accept_damaged && pixels.size() < row_bytes * (size.height - 1) + used_bytes) {
    return fmt::format("truncated BMP: {} bytes of pixels, {} are needed", pixels.size(),
                       row_bytes * (size.height - 1) + used_bytes);
  }
  const Palette palette = read_palette(bytes, header);
  for (std::int32_t y = box.y; y < box.y + box.height; ++y) {
    std::uint8_t* out_row = rgb + stride * (y - box.y);
    const std::size_t at = row_bytes * (header.top_down ? y : size.height - 1 - y);
    if (pixels.size() < at + (header.bits == 8 ? static_cast<std::size_t>(size.width) : used_bytes)) {
      std::memset(out_row, 0, stride);  // a row that is not wholly there
    } else {
      put_row(pixels.data() + at, header, palette, box, options.background, out_row);
    }
  }
  out = {rgb, {box.width, box.height}, stride};
  return std::nullopt;
}

}  // namespace feedring
