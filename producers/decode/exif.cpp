// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/exif.hpp"

#include <cstring>
#include <string_view>

#include "producers/decode/byte_order.hpp"

namespace feedring {
namespace {

using Bytes = std::span<const std::uint8_t>;

bool begins_with(Bytes bytes, std::string_view text) noexcept {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

constexpr std::string_view kPrefix{"Exif\0\0", 6};

/// The first APP1 segment of EXIF data, before the first scan (EXIF 2.32, 4.7.2).
Bytes in_jpeg(Bytes bytes) noexcept {
  for (std::size_t at = 2; bytes.size() - at >= 4;) {
    if (bytes[at] != 0xff) return {};
    const std::uint8_t marker = bytes[at + 1];
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) return {};  // a scan, the end
    const std::size_t length = big_16(bytes.data() + at + 2);
    if (length < 2 || bytes.size() - at - 2 < length) return {};
    const Bytes segment = bytes.subspan(at + 4, length - 2);
    if (marker == 0xe1 && begins_with(segment, kPrefix)) return segment.subspan(kPrefix.size());
    at += 2 + length;
  }
  return {};
}

/// The chunk eXIf (PNG specification, third edition, 11.3.3.5).
Bytes in_png(Bytes bytes) noexcept {
  for (std::size_t at = 8; bytes.size() - at >= 12;) {
    const std::size_t length = big_32(bytes.data() + at);
    if (bytes.size() - at - 12 < length) return {};
    if (begins_with(bytes.subspan(at + 4), "eXIf")) return bytes.subspan(at + 8, length);
    at += 12 + length;
  }
  return {};
}

/// The chunk EXIF of the extended file format.
Bytes in_webp(Bytes bytes) noexcept {
  for (std::size_t at = 12; bytes.size() - at >= 8;) {
    const std::size_t length = little_32(bytes.data() + at + 4);
    if (bytes.size() - at - 8 < length) return {};
    if (begins_with(bytes.subspan(at), "EXIF")) {
      const Bytes data = bytes.subspan(at + 8, length);
      return begins_with(data, kPrefix) ? data.subspan(kPrefix.size()) : data;
    }
    at += 8 + length;
    if (length % 2 != 0 && at < bytes.size()) ++at;  // chunks are padded to 16 bits
  }
  return {};
}

/// The tag in the first directory of a TIFF structure.
std::uint8_t orientation_of(Bytes data) noexcept {
  if (data.size() < 8) return 1;
  const bool little = begins_with(data, "II*");
  if (!little && !begins_with(data, {"MM\0*", 4})) return 1;
  const auto number_16 = [&](std::size_t at) { return little ? little_16(&data[at]) : big_16(&data[at]); };
  const auto number_32 = [&](std::size_t at) { return little ? little_32(&data[at]) : big_32(&data[at]); };
  const std::size_t directory = number_32(4);
  if (directory > data.size() || data.size() - directory < 2) return 1;
  constexpr std::size_t kEntry = 12;
  const std::size_t count = number_16(directory);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = directory + 2 + kEntry * i;
    if (data.size() - directory < 2 + kEntry * (i + 1)) return 1;
    constexpr std::uint32_t kOrientation = 0x0112;
    constexpr std::uint32_t kShort = 3;
    if (number_16(at) != kOrientation) continue;
    const std::uint32_t value = number_16(at + 2) == kShort ? number_16(at + 8) : number_32(at + 8);
    return value >= 1 && value <= 8 ? static_cast<std::uint8_t>(value) : 1;
  }
  return 1;
}

}  // namespace

std::uint8_t exif_orientation(Bytes bytes, Format format) noexcept {
  switch (format) {
    case Format::kJpeg: return orientation_of(in_jpeg(bytes));
    case Format::kPng: return orientation_of(in_png(bytes));
    case Format::kWebp: return orientation_of(in_webp(bytes));
    default: return 1;
  }
}

}  // namespace feedring
