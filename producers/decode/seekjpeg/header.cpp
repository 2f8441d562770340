// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/seekjpeg/header.hpp"

#include <cstring>

#include "producers/decode/byte_order.hpp"

namespace feedring::seekjpeg {
namespace {

// libjpeg's own cap lies far above; this decoder's positions are 32 bit numbers of bits.
constexpr std::size_t kMaxBytes = std::size_t{1} << 28;
constexpr std::int64_t kMaxPixels = 40'000'000;
// Chroma rows of two samples or less are not filtered by libjpeg.
constexpr std::int32_t kNarrowest = 5;

using Segment = std::span<const std::uint8_t>;

/// What is gathered besides the Header until the scan begins.
struct Parts {
  bool has_frame = false;
  bool is_jfif = false;
  int adobe_transform = -1;
  unsigned quants = 0;  // bits: which are there
};

bool read_quants(Segment segment, Header& header, Parts& parts) {
  while (!segment.empty()) {
    const unsigned id = segment[0] & 15U;
    const unsigned bytes = (segment[0] >> 4) + 1U;
    if (id > 3 || bytes > 2 || segment.size() < 1 + 64 * bytes) return false;
    for (unsigned i = 0; i < 64; ++i) {
      const std::uint8_t* at = segment.data() + 1 + std::size_t{i} * bytes;
      header.quant[id][kNatural[i]] = static_cast<std::uint16_t>(bytes == 1 ? *at : big_16(at));
    }
    parts.quants |= 1U << id;
    segment = segment.subspan(1 + 64 * bytes);
  }
  return true;
}

bool read_codes(Segment segment, Header& header) {
  while (!segment.empty()) {
    const unsigned id = segment[0] & 15U;
    const unsigned kind = segment[0] >> 4;
    if (id > 3 || kind > 1 || segment.size() < 17) return false;
    std::size_t count = 0;
    for (unsigned i = 1; i <= 16; ++i) count += segment[i];
    if (count > 256 || segment.size() < 17 + count) return false;
    (kind == 0 ? header.dc : header.ac)[id] = segment.data() + 1;
    segment = segment.subspan(17 + count);
  }
  return true;
}

bool read_frame(Segment segment, Header& header, Parts& parts) {
  if (parts.has_frame || segment.size() < 6 || segment[0] != 8) return false;
  parts.has_frame = true;
  header.size = {static_cast<std::int32_t>(big_16(&segment[3])), static_cast<std::int32_t>(big_16(&segment[1]))};
  header.components = segment[5];
  if (header.components != 1 && header.components != 3) return false;
  if (segment.size() != 6 + std::size_t{3} * static_cast<unsigned>(header.components)) return false;
  for (int i = 0; i < header.components; ++i) {
    const std::uint8_t* at = &segment[6 + 3 * static_cast<std::size_t>(i)];
    header.component[static_cast<std::size_t>(i)] = {.id = at[0],
                                                     .across = static_cast<std::uint8_t>(at[1] >> 4),
                                                     .down = static_cast<std::uint8_t>(at[1] & 15),
                                                     .quant = at[2]};
    if (at[2] > 3) return false;
  }
  return true;
}

bool read_scan(Segment segment, Header& header) {
  const auto count = static_cast<std::size_t>(header.components);
  if (segment.size() != 4 + 2 * count || segment[0] != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    Component& component = header.component[i];
    if (segment[1 + 2 * i] != component.id) return false;
    component.dc = segment[2 + 2 * i] >> 4;
    component.ac = segment[2 + 2 * i] & 15;
    if (component.dc > 3 || component.ac > 3) return false;
  }
  const std::uint8_t* end = &segment[1 + 2 * count];
  return end[0] == 0 && end[1] == 63 && end[2] == 0;
}

/// The colours that libjpeg would guess.
bool is_ycc(const Header& header, const Parts& parts) {
  const auto& part = header.component;
  if (part[0].id == part[1].id || part[0].id == part[2].id || part[1].id == part[2].id) return false;
  if (parts.is_jfif) return true;
  if (parts.adobe_transform >= 0) return parts.adobe_transform == 1;
  return part[0].id == 1 && part[1].id == 2 && part[2].id == 3;
}

bool is_for_us(Header& header, const Parts& parts) {
  const Size size = header.size;
  if (!parts.has_frame || size.width < kNarrowest || size.height <= 0) return false;
  if (std::int64_t{size.width} * size.height > kMaxPixels) return false;
  for (int i = 0; i < header.components; ++i) {
    const Component& component = header.component[static_cast<std::size_t>(i)];
    if ((parts.quants >> component.quant & 1) == 0) return false;
    if (header.dc[component.dc] == nullptr || header.ac[component.ac] == nullptr) return false;
    if (component.across < 1 || component.across > 4 || component.down < 1 || component.down > 4) return false;
  }
  Component& luma = header.component[0];
  header.rows_together = luma.down;
  if (header.components == 1) {  // a scan of one component has units of one block, whatever its factors are
    luma.across = luma.down = 1;
    return true;
  }
  const bool doubled = luma.across <= 2 && luma.down <= 2;
  if (!doubled && (luma.across != 4 || luma.down != 1)) return false;
  for (int i = 1; i < 3; ++i) {
    const Component& chroma = header.component[static_cast<std::size_t>(i)];
    if (chroma.across != 1 || chroma.down != 1) return false;
  }
  return is_ycc(header, parts);
}

/// What stands between the frame of the file and the scan, a segment at a time.
bool read_segment(unsigned marker, Segment segment, Header& header, Parts& parts) {
  switch (marker) {
    case 0xc0:
    case 0xc1: return read_frame(segment, header, parts);
    case 0xc4: return read_codes(segment, header);
    case 0xdb: return read_quants(segment, header, parts);
    case 0xdd: return segment.size() == 2 && big_16(segment.data()) == 0;
    case 0xe0:
      if (segment.size() >= 14 && std::memcmp(segment.data(), "JFIF", 5) == 0) parts.is_jfif = true;
      return true;
    case 0xee:
      if (segment.size() >= 12 && std::memcmp(segment.data(), "Adobe", 5) == 0) parts.adobe_transform = segment[11];
      return true;
    case 0xfe: return true;
    default: return marker >= 0xe1 && marker <= 0xef;
  }
}

}  // namespace

bool read_header(std::span<const std::uint8_t> bytes, Header& header) {
  header = {};
  if (bytes.size() < 4 || bytes.size() > kMaxBytes || bytes[0] != 0xff || bytes[1] != 0xd8) return false;
  Parts parts;
  for (std::size_t at = 2; bytes.size() - at >= 4;) {
    if (bytes[at] != 0xff) return false;
    const unsigned marker = bytes[at + 1];
    const std::size_t length = big_16(&bytes[at + 2]);
    if (length < 2 || bytes.size() - at - 2 < length) return false;
    const Segment segment = bytes.subspan(at + 4, length - 2);
    at += 2 + length;
    if (marker == 0xda) {
      if (!parts.has_frame || !read_scan(segment, header)) return false;
      header.scan = bytes.subspan(at);
      return is_for_us(header, parts);
    }
    if (!read_segment(marker, segment, header, parts)) return false;
  }
  return false;
}

}  // namespace feedring::seekjpeg
