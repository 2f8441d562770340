// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/sniff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace feedring {
namespace {

using Bytes = std::span<const std::uint8_t>;

bool holds(Bytes bytes, std::size_t at, std::string_view text) {
  if (bytes.size() < at || bytes.size() - at < text.size()) return false;
  return std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

// "BM" alone begins many texts; the header size at byte 14 is one of few numbers (Microsoft's and OS/2's DIB headers).
bool is_bmp(Bytes bytes) {
  if (!holds(bytes, 0, "BM") || bytes.size() < 18 || bytes[15] != 0 || bytes[16] != 0 || bytes[17] != 0) return false;
  constexpr std::uint8_t kHeaderSizes[] = {12, 16, 40, 52, 56, 64, 108, 124};
  return std::find(std::begin(kHeaderSizes), std::end(kHeaderSizes), bytes[14]) != std::end(kHeaderSizes);
}

bool is_tiff(Bytes bytes) {
  using namespace std::string_view_literals;
  return holds(bytes, 0, "II*\0"sv) || holds(bytes, 0, "MM\0*"sv) || holds(bytes, 0, "II+\0"sv) ||
         holds(bytes, 0, "MM\0+"sv);
}

bool is_pnm(Bytes bytes) {
  if (bytes.size() < 3 || bytes[0] != 'P' || bytes[1] < '1' || bytes[1] > '7') return false;
  return std::isspace(bytes[2]) != 0 || bytes[2] == '#';
}

bool begins_like_text(Bytes bytes, std::string_view lower_case) {
  return bytes.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), bytes.begin(),
                    [](char a, std::uint8_t b) { return a == static_cast<char>(std::tolower(b)); });
}

}  // namespace

Format sniff(Bytes bytes) noexcept {
  if (holds(bytes, 0, "\xff\xd8\xff")) return Format::kJpeg;
  if (holds(bytes, 0, "\x89PNG\r\n\x1a\n")) return Format::kPng;
  if (holds(bytes, 0, "RIFF") && holds(bytes, 8, "WEBP")) return Format::kWebp;
  if (holds(bytes, 0, "GIF87a") || holds(bytes, 0, "GIF89a")) return Format::kGif;
  if (is_tiff(bytes)) return Format::kTiff;
  if (is_bmp(bytes)) return Format::kBmp;
  if (is_pnm(bytes)) return Format::kPnm;
  return Format::kUnknown;
}

std::string_view name_of(Format format) noexcept {
  switch (format) {
    case Format::kJpeg: return "JPEG";
    case Format::kPng: return "PNG";
    case Format::kWebp: return "WebP";
    case Format::kGif: return "GIF";
    case Format::kBmp: return "BMP";
    case Format::kTiff: return "TIFF";
    case Format::kPnm: return "PNM";
    case Format::kUnknown: break;
  }
  return "unknown";
}

std::string describe_unknown(Bytes bytes) {
  if (bytes.empty()) return "the file is empty";
  Bytes text = bytes;
  if (holds(text, 0, "\xef\xbb\xbf")) text = text.subspan(3);
  while (!text.empty() && std::isspace(text[0]) != 0) text = text.subspan(1);
  for (const std::string_view tag : {"<!doctype html", "<html", "<head", "<body"}) {
    if (begins_like_text(text, tag)) return "this is an HTML page, not an image";
  }
  for (const std::string_view tag : {"<?xml", "<svg", "<!doctype"}) {
    if (begins_like_text(text, tag)) return "this is an XML or SVG text, not a raster image";
  }
  constexpr std::size_t kShown = 8;  // the longest signature that is looked for
  if (bytes.size() < kShown) return fmt::format("{} byte(s) are too short for an image", bytes.size());
  std::string hex;
  for (const std::uint8_t byte : bytes.first(kShown)) hex += fmt::format("{}{:02x}", hex.empty() ? "" : " ", byte);
  return fmt::format("no known image format (the first bytes are {})", hex);
}

}  // namespace feedring
