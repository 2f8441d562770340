// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/pnm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "producers/decode/arena.hpp"
#include "producers/decode/byte_order.hpp"
#include "producers/decode/pixels.hpp"
#include "producers/decode/pnm_tokens.hpp"

namespace feedring {
namespace {

using Bytes = std::span<const std::uint8_t>;

struct Header {
  char kind = '0';  // '1' … '6'
  Size size;
  std::uint32_t maximum = 1;
  std::size_t raster_at = 0;

  [[nodiscard]] bool plain() const { return kind <= '3'; }
  [[nodiscard]] bool bits() const { return kind == '1' || kind == '4'; }
  [[nodiscard]] std::size_t channels() const { return kind == '3' || kind == '6' ? 3 : 1; }
};

Fault read_header(Bytes bytes, Header& header) {
  header.kind = static_cast<char>(bytes[1]);  // sniff() has looked at the first three bytes
  PnmTokens tokens(bytes.subspan(2));
  std::uint32_t numbers[3] = {0, 0, 1};
  for (int i = 0; i < (header.bits() ? 2 : 3); ++i) {
    if (!tokens.number(numbers[i])) return "the PNM header holds something that is no number, or ends early";
  }
  if (numbers[0] == 0 || numbers[1] == 0 || numbers[0] > INT32_MAX || numbers[1] > INT32_MAX) {
    return fmt::format("{} x {} pixels are none", numbers[0], numbers[1]);
  }
  if (numbers[2] == 0 || numbers[2] > 65535) return fmt::format("a PNM maximum of {} is not supported", numbers[2]);
  header.size = {static_cast<std::int32_t>(numbers[0]), static_cast<std::int32_t>(numbers[1])};
  header.maximum = numbers[2];
  header.raster_at = 2 + tokens.at();
  return std::nullopt;
}

std::uint8_t to_8_bit(std::uint32_t value, std::uint32_t maximum) {
  if (maximum == 255) return static_cast<std::uint8_t>(std::min(value, 255u));
  // The expression of Pillow, whose rounding of halves to even this keeps.
  const double scaled = std::nearbyint(static_cast<double>(value) / static_cast<double>(maximum) * 255.0);
  return static_cast<std::uint8_t>(std::min(scaled, 255.0));
}

std::size_t raw_row_bytes(const Header& header) {
  const auto width = static_cast<std::size_t>(header.size.width);
  if (header.bits()) return (width + 7) / 8;
  return width * header.channels() * (header.maximum > 255 ? 2 : 1);
}

void put_raw_row(const std::uint8_t* row, const Header& header, Box box, std::uint8_t* out) {
  const std::size_t channels = header.channels();
  const auto first = static_cast<std::size_t>(box.x);
  for (std::size_t x = first; x < first + static_cast<std::size_t>(box.width); ++x, out += 3) {
    if (header.bits()) {
      std::fill_n(out, 3, static_cast<std::uint8_t>((row[x / 8] >> (7 - x % 8) & 1) != 0 ? 0 : 255));
      continue;
    }
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t at = x * channels + (channels == 3 ? c : 0);
      out[c] = to_8_bit(header.maximum > 255 ? big_16(row + 2 * at) : row[at], header.maximum);
    }
  }
}

Fault put_raw(Bytes raster, const Header& header, Box box, bool accept_damaged, std::uint8_t* rgb, std::size_t stride) {
  const std::size_t row_bytes = raw_row_bytes(header);
  const std::size_t needed = row_bytes * static_cast<std::size_t>(header.size.height);
  if (raster.size() < needed && !accept_damaged) {
    return fmt::format("truncated PNM: {} bytes of pixels, {} are needed", raster.size(), needed);
  }
  for (std::int32_t y = box.y; y < box.y + box.height; ++y) {
    std::uint8_t* out_row = rgb + stride * (y - box.y);
    const std::size_t at = row_bytes * static_cast<std::size_t>(y);
    if (raster.size() < at + row_bytes) {
      std::memset(out_row, 0, stride);
    } else {
      put_raw_row(raster.data() + at, header, box, out_row);
    }
  }
  return std::nullopt;
}

Fault put_plain(Bytes raster, const Header& header, Box box, bool accept_damaged, std::uint8_t* rgb,
                std::size_t stride) {
  std::memset(rgb, 0, stride * static_cast<std::size_t>(box.height));
  PnmTokens tokens(raster);
  const std::size_t channels = header.channels();
  for (std::int32_t y = 0; y < header.size.height; ++y) {
    for (std::int32_t x = 0; x < header.size.width; ++x) {
      std::uint8_t pixel[3];
      for (std::size_t c = 0; c < channels; ++c) {
        std::uint32_t value = 0;
        const bool read = header.bits() ? tokens.bit(value) : tokens.number(value);
        if (!read || value > header.maximum) {
          if (accept_damaged) return std::nullopt;  // what follows cannot be told apart
          return !read && tokens.at_end()
                     ? Fault("truncated PNM: the file ends before its last pixel")
                     : fmt::format("row {} of the PNM holds what is no sample of 0 to {}", y, header.maximum);
        }
        pixel[c] = header.bits() ? (value != 0 ? 0 : 255) : to_8_bit(value, header.maximum);
      }
      if (x < box.x || x >= box.x + box.width || y < box.y || y >= box.y + box.height) continue;
      std::uint8_t* out = rgb + stride * (y - box.y) + std::size_t{3} * (x - box.x);
      for (std::size_t c = 0; c < 3; ++c) out[c] = pixel[channels == 3 ? c : 0];
    }
  }
  return std::nullopt;
}

}  // namespace

Fault pnm_header(Bytes bytes, Size& size) {
  Header header;
  if (Fault fault = read_header(bytes, header)) return fault;
  size = header.size;
  return std::nullopt;
}

Fault pnm_pixels(Bytes bytes, Size size, Box box, const DecodeOptions& options, Arena& arena, RgbView& out) {
  Header header;
  if (Fault fault = read_header(bytes, header)) return fault;
  if (header.size != size) return "the file changed while it was read";
  const std::size_t stride = std::size_t{3} * box.width;
  auto* rgb = take_rgb(arena, {box.width, box.height});
  if (rgb == nullptr) return no_memory({box.width, box.height});
  const Bytes raster = bytes.subspan(header.raster_at);
  const auto put = header.plain() ? put_plain : put_raw;
  if (Fault fault = put(raster, header, box, options.accept_damaged, rgb, stride)) return fault;
  out = {rgb, {box.width, box.height}, stride};
  return std::nullopt;
}

}  // namespace feedring
