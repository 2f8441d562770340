// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/sniff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace feedring {
namespace {

using testing::HasSubstr;
using namespace std::string_view_literals;

std::span<const std::uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Sniff, TellsEachFormatByItsFirstBytes) {
  EXPECT_EQ(sniff(bytes("\xff\xd8\xff\xe0\x00\x10JFIF"sv)), Format::kJpeg);
  EXPECT_EQ(sniff(bytes("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv)), Format::kPng);
  EXPECT_EQ(sniff(bytes("RIFF\x24\x00\x00\x00WEBPVP8 "sv)), Format::kWebp);
  EXPECT_EQ(sniff(bytes("GIF89a\1\0\1\0"sv)), Format::kGif);
  EXPECT_EQ(sniff(bytes("GIF87a\1\0\1\0"sv)), Format::kGif);
  EXPECT_EQ(sniff(bytes("BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"sv)), Format::kBmp);
  EXPECT_EQ(sniff(bytes("II*\0\x08\0\0\0"sv)), Format::kTiff);
  EXPECT_EQ(sniff(bytes("MM\0*\0\0\0\x08"sv)), Format::kTiff);
  EXPECT_EQ(sniff(bytes("II+\0\x08\0\0\0"sv)), Format::kTiff);
  EXPECT_EQ(sniff(bytes("P6\n2 2 255\n"sv)), Format::kPnm);
  EXPECT_EQ(sniff(bytes("P5#x\n"sv)), Format::kPnm);
}

TEST(Sniff, DoesNotTakeATextForAnImage) {
  EXPECT_EQ(sniff(bytes("BMW builds motor cars since 1916"sv)), Format::kUnknown);
  EXPECT_EQ(sniff(bytes("P9 is no such format"sv)), Format::kUnknown);
  EXPECT_EQ(sniff(bytes("P6is a word"sv)), Format::kUnknown);
  EXPECT_EQ(sniff(bytes("RIFF\x24\x00\x00\x00WAVEfmt "sv)), Format::kUnknown);
}

TEST(Sniff, ReadsNothingBeyondAShortFile) {
  for (const std::string_view whole : {"\xff\xd8\xff"sv, "\x89PNG\r\n\x1a\n"sv, "RIFF\x24\0\0\0WEBP"sv, "GIF89a"sv}) {
    EXPECT_NE(sniff(bytes(whole)), Format::kUnknown);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      // A buffer of exactly this size, so that a sanitizer sees a read beyond it.
      const std::string part(whole.substr(0, size));
      EXPECT_EQ(sniff(bytes(part)), Format::kUnknown) << size;
    }
  }
}

TEST(Sniff, GivesEachFormatAName) {
  EXPECT_EQ(name_of(Format::kJpeg), "JPEG");
  EXPECT_EQ(name_of(Format::kPng), "PNG");
  EXPECT_EQ(name_of(Format::kWebp), "WebP");
  EXPECT_EQ(name_of(Format::kGif), "GIF");
  EXPECT_EQ(name_of(Format::kBmp), "BMP");
  EXPECT_EQ(name_of(Format::kTiff), "TIFF");
  EXPECT_EQ(name_of(Format::kPnm), "PNM");
  EXPECT_EQ(name_of(Format::kUnknown), "unknown");
}

TEST(Sniff, SaysWhyUnknownBytesAreNoImage) {
  EXPECT_EQ(describe_unknown({}), "the file is empty");
  EXPECT_EQ(describe_unknown(bytes("abc"sv)), "3 byte(s) are too short for an image");
  EXPECT_THAT(describe_unknown(bytes("<!DOCTYPE HTML>\n<title>404"sv)), HasSubstr("HTML page"));
  EXPECT_THAT(describe_unknown(bytes("\xef\xbb\xbf \r\n<Html lang=de>"sv)), HasSubstr("HTML page"));
  EXPECT_THAT(describe_unknown(bytes("<?xml version='1.0'?><svg/>"sv)), HasSubstr("XML or SVG"));
  EXPECT_THAT(describe_unknown(bytes("\x01\x02\x03\x04\x05\x06\x07\xff\x09"sv)), HasSubstr("01 02 03 04 05 06 07 ff"));
}

}  // namespace
}  // namespace feedring
