// SPDX-License-Identifier: Apache-2.0
// BMP and PNM, which are read by code of our own, and what options do: small files whose pixels are known by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <webp/encode.h>

#include <string>
#include <vector>

#include "producers/decode/decoder.hpp"
#include "tests/support/pictures.hpp"

namespace feedring {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;
using Pixels = std::vector<std::uint8_t>;

Bytes text(const std::string& text) { return {text.begin(), text.end()}; }

/// The pixels, or the fault's words as bytes, so that a failing comparison shows them.
Pixels decoded(const Bytes& bytes, const DecodeOptions& options = {}) {
  Decoder decoder;
  ImageInfo info;
  RgbView view;
  Fault fault = decoder.probe(bytes, test::kMaxPixels, info, options);
  if (!fault) fault = decoder.decode(bytes, info, {0, 0, info.size.width, info.size.height}, view);
  EXPECT_FALSE(fault) << *fault;
  return fault ? text(*fault) : test::copy_of(view).rgb;
}

std::string fault_of(const Bytes& bytes, const DecodeOptions& options = {}) {
  Decoder decoder;
  ImageInfo info;
  RgbView view;
  Fault fault = decoder.probe(bytes, test::kMaxPixels, info, options);
  if (!fault) fault = decoder.decode(bytes, info, {0, 0, info.size.width, info.size.height}, view);
  return fault.value_or("");
}

void put_32(Bytes& bytes, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

/// A BMP with a header of 40 bytes; `rest` is what follows it, of which `before_pixels` bytes are no pixels.
Bytes bmp(std::uint32_t width, std::int32_t height, std::uint32_t bits, std::uint32_t compression, const Bytes& rest,
          std::uint32_t before_pixels = 0, std::uint32_t colours = 0) {
  Bytes bytes = text("BM");
  put_32(bytes, static_cast<std::uint32_t>(54 + rest.size()));
  put_32(bytes, 0);
  put_32(bytes, 54 + before_pixels);
  for (const std::uint32_t value :
       {40U, width, static_cast<std::uint32_t>(height), 1 | bits << 16, compression, 0U, 0U, 0U, colours, 0U})
    put_32(bytes, value);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

TEST(Bmp, RowsComeFromTheBottomUnlessTheHeightIsNegative) {
  const Bytes rows = {1, 2, 3, 0, 4, 5, 6, 0};  // blue, green, red, padding
  EXPECT_THAT(decoded(bmp(1, 2, 24, 0, rows)), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(decoded(bmp(1, -2, 24, 0, rows)), ElementsAre(3, 2, 1, 6, 5, 4));
}

TEST(Bmp, FifteenAndSixteenBitsAreScaledAndRoundedDown) {
  // 0x7fff is white in 555; 16 of 31 is 131.6, 33 of 63 is 133.57.
  EXPECT_THAT(decoded(bmp(2, 1, 16, 0, {0xff, 0x7f, 0x10, 0x42})), ElementsAre(255, 255, 255, 131, 131, 131));
  Bytes fields;
  for (const std::uint32_t mask : {0xf800U, 0x7e0U, 0x1fU}) put_32(fields, mask);
  fields.insert(fields.end(), {0x30, 0x84, 0, 0});  // red 16, green 33, blue 16
  EXPECT_THAT(decoded(bmp(1, 1, 16, 3, fields, 12)), ElementsAre(131, 133, 131));
}

TEST(Bmp, APaletteGivesItsColoursAndBlackBeyondThem) {
  const Bytes two = {10, 20, 30, 0, 40, 50, 60, 0, 0x01, 0x20, 0, 0};  // entries, then the indices 0, 1, 2, 0
  EXPECT_THAT(decoded(bmp(4, 1, 4, 0, two, 8, 2)), ElementsAre(30, 20, 10, 60, 50, 40, 0, 0, 0, 30, 20, 10));
}

TEST(Bmp, RunLengthsRepeatSkipAndCopy) {
  Bytes rest;
  for (std::uint32_t i = 0; i < 4; ++i) put_32(rest, 0x010101 * (100 + i));
  // Twice index 1; end of line; skip one, then one of index 3 by a run; end of picture. Widths of 2 and two rows.
  rest.insert(rest.end(), {2, 1, 0, 0, 0, 2, 1, 0, 1, 3, 0, 1});
  EXPECT_THAT(decoded(bmp(2, 2, 8, 1, rest, 16, 4)),
              ElementsAre(100, 100, 100, 103, 103, 103, 101, 101, 101, 101, 101, 101));
  // Three pixels copied (and a byte of padding), nibbles: 1, 2, 3.
  Bytes nibbles(rest.begin(), rest.begin() + 16);
  nibbles.insert(nibbles.end(), {0, 3, 0x12, 0x30, 0, 1});
  EXPECT_THAT(decoded(bmp(3, 1, 4, 2, nibbles, 16, 4)), ElementsAre(101, 101, 101, 102, 102, 102, 103, 103, 103));
  nibbles.resize(nibbles.size() - 4);
  EXPECT_THAT(fault_of(bmp(3, 1, 4, 2, nibbles, 16, 4)), HasSubstr("the run lengths end after 0 of 3 pixels"));
}

TEST(Bmp, EveryShorterPrefixIsAFault) {
  const Bytes whole = bmp(2, 2, 32, 0, Bytes(16, 7));
  EXPECT_EQ(fault_of(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(fault_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
  }
}

TEST(Bmp, ADamagedOneGivesItsWholeRowsWhereThatIsAsked) {
  Bytes cut = bmp(1, 2, 24, 0, {1, 2, 3, 0, 4, 5, 6, 0});
  cut.resize(cut.size() - 3);
  EXPECT_THAT(fault_of(cut), HasSubstr("truncated BMP"));
  EXPECT_THAT(decoded(cut, {.accept_damaged = true}), ElementsAre(0, 0, 0, 3, 2, 1));
}

TEST(Pnm, EachKindGivesItsPixels) {
  EXPECT_THAT(decoded(text("P1\n# a comment\n3 1\n01 0")), ElementsAre(255, 255, 255, 0, 0, 0, 255, 255, 255));
  EXPECT_THAT(decoded(text("P2 2 1 255\n7 # here too\n 200")), ElementsAre(7, 7, 7, 200, 200, 200));
  EXPECT_THAT(decoded(text("P3 1 1 255\n1 2 3\n")), ElementsAre(1, 2, 3));
  EXPECT_THAT(decoded(text("P4 3 1\n\x40")), ElementsAre(255, 255, 255, 0, 0, 0, 255, 255, 255));
  EXPECT_THAT(decoded(text("P5 2 1 255\n\x07\xc8")), ElementsAre(7, 7, 7, 200, 200, 200));
  EXPECT_THAT(decoded(text("P6 1 1 255\n\x01\x02\x03")), ElementsAre(1, 2, 3));
}

TEST(Pnm, OtherMaximaAreScaledAndRounded) {
  // 1 of 7 is 36.4; 0x0102 of 65535 is 1.004, 0x8080 is 128, 0xff7e is 254.49; halves go to even: 1 of 170 is 1.5.
  EXPECT_THAT(decoded(text("P2 2 1 7\n1 7\n")), ElementsAre(36, 36, 36, 255, 255, 255));
  EXPECT_THAT(decoded(text(std::string("P6 1 1 65535\n\x01\x02\x80\x80\xff\x7e", 19))), ElementsAre(1, 128, 254));
  EXPECT_THAT(decoded(text("P2 1 1 170\n1\n")), ElementsAre(2, 2, 2));
}

TEST(Pnm, WhatIsNotThereOrNoSampleIsAFault) {
  EXPECT_THAT(fault_of(text("P6 2 1 255\n12345")), HasSubstr("truncated PNM: 5 bytes of pixels, 6 are needed"));
  EXPECT_THAT(fault_of(text("P2 2 1 255\n12")), HasSubstr("truncated PNM"));
  EXPECT_THAT(fault_of(text("P2 2 1 255\n12 256")), HasSubstr("no sample of 0 to 255"));
  EXPECT_THAT(fault_of(text("P2 2 1 255\n12 -1")), HasSubstr("no sample of 0 to 255"));
  EXPECT_THAT(fault_of(text("P5 2 x")), HasSubstr("PNM header"));
  EXPECT_THAT(fault_of(text("P5 0 1 255\n")), HasSubstr("0 x 1 pixels are none"));
  EXPECT_THAT(fault_of(text("P5 1 1 65536\n\x01")), HasSubstr("maximum of 65536"));
  EXPECT_THAT(fault_of(text("P5 99999999999 1 255\n")), HasSubstr("PNM header"));
  EXPECT_THAT(fault_of(text("P5 60000 60000 255\n")), HasSubstr("60000 x 60000 pixels are more than max_pixels"));
  EXPECT_THAT(decoded(text("P2 2 1 255\n12"), {.accept_damaged = true}), ElementsAre(12, 12, 12, 0, 0, 0));
}

TEST(DecodeOptions, TransparentPixelsAreBlendedOverTheBackground) {
  // Pillow 13: Image.new("RGB", (1, 1), (10, 200, 77)).paste((100, 50, 0), mask=a) for a of 0, 128, 255.
  const Bytes rgba = {100, 50, 0, 0, 100, 50, 0, 128, 100, 50, 0, 255};
  std::uint8_t* encoded = nullptr;
  const std::size_t size = WebPEncodeLosslessRGBA(rgba.data(), 3, 1, 12, &encoded);
  ASSERT_GT(size, 0U);
  const Bytes webp(encoded, encoded + size);
  WebPFree(encoded);
  DecodeOptions options;
  options.background = Rgb{10, 200, 77};
  EXPECT_THAT(decoded(webp, options), ElementsAre(10, 200, 77, 55, 125, 38, 100, 50, 0));
  for (std::size_t cut = 12; cut < webp.size(); ++cut) {
    EXPECT_NE(fault_of({webp.begin(), webp.begin() + static_cast<std::ptrdiff_t>(cut)}), "") << cut;
  }
}

/// A picture of 3 x 2 pixels whose red is 10 * y + x, as a WebP with EXIF data that say how it is turned.
Bytes turned_webp(std::uint8_t orientation) {
  Bytes rgb;
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) rgb.insert(rgb.end(), {static_cast<std::uint8_t>(10 * y + x), 0, 0});
  }
  std::uint8_t* encoded = nullptr;
  const std::size_t size = WebPEncodeLosslessRGB(rgb.data(), 3, 2, 9, &encoded);
  Bytes picture(encoded + 12, encoded + size);  // the chunk VP8L
  WebPFree(encoded);
  const Bytes exif = {'E', 'X',  'I', 'F', 26, 0, 0, 0, 'I', 'I',         '*', 0, 8, 0, 0, 0, 1,
                      0,   0x12, 1,   3,   0,  1, 0, 0, 0,   orientation, 0,   0, 0, 0, 0, 0, 0};
  Bytes file = text("RIFF");
  put_32(file, static_cast<std::uint32_t>(4 + 18 + picture.size() + exif.size()));
  for (const char c : std::string("WEBPVP8X")) file.push_back(static_cast<std::uint8_t>(c));
  put_32(file, 10);
  file.insert(file.end(), {8, 0, 0, 0, 2, 0, 0, 1, 0, 0});  // has EXIF; width - 1, height - 1
  file.insert(file.end(), picture.begin(), picture.end());
  file.insert(file.end(), exif.begin(), exif.end());
  return file;
}

TEST(DecodeOptions, ExifTurnsAndMirrorsOnlyWhereAsked) {
  // By hand, from the definition of the eight numbers (EXIF 2.32, 4.6.5).
  const std::vector<std::vector<int>> reds = {{0, 1, 2, 10, 11, 12}, {2, 1, 0, 12, 11, 10}, {12, 11, 10, 2, 1, 0},
                                              {10, 11, 12, 0, 1, 2}, {0, 10, 1, 11, 2, 12}, {10, 0, 11, 1, 12, 2},
                                              {12, 2, 11, 1, 10, 0}, {2, 12, 1, 11, 0, 10}};
  for (std::uint8_t orientation = 1; orientation <= 8; ++orientation) {
    Decoder decoder;
    ImageInfo info;
    RgbView view;
    const Bytes file = turned_webp(orientation);
    ASSERT_FALSE(decoder.probe(file, 100, info));
    EXPECT_EQ(info.size, (Size{3, 2}));
    ASSERT_FALSE(decoder.probe(file, 100, info, {.exif_orientation = true}));
    EXPECT_EQ(info.size, (orientation >= 5 ? Size{2, 3} : Size{3, 2}));
    ASSERT_FALSE(decoder.decode(file, info, {0, 0, info.size.width, info.size.height}, view));
    const test::Picture whole = test::copy_of(view);
    std::vector<int> seen;
    for (std::size_t i = 0; i < whole.rgb.size(); i += 3) seen.push_back(whole.rgb[i]);
    EXPECT_THAT(seen, ElementsAreArray(reds[orientation - 1U])) << int{orientation};
    for (std::int32_t y = 0; y < info.size.height; ++y) {
      for (std::int32_t x = 0; x < info.size.width; ++x) {
        EXPECT_EQ(test::box_differs(decoder, file, info, whole, {x, y, info.size.width - x, 1}), "");
      }
    }
  }
}

}  // namespace
}  // namespace feedring
