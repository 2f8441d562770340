// SPDX-License-Identifier: Apache-2.0
// What a JPEG decodes to and when it is refused; exactness of boxes is in decode_jpeg_boxes_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "producers/decode/decoder.hpp"
#include "tests/support/jpeg_writer.hpp"
#include "tests/support/pictures.hpp"

namespace feedring {
namespace {

using test::Picture;
using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

std::string fault_of(Decoder& decoder, const Bytes& bytes) {
  Picture picture;
  return test::decode_whole(decoder, bytes, picture).value_or("");
}

/// A copy without the marker segments of the given kind.
Bytes without_segments(const Bytes& file, std::uint8_t marker) {
  Bytes out(file.begin(), file.begin() + 2);
  for (std::size_t at = 2; at + 4 <= file.size();) {
    const std::size_t length = std::size_t{2} + static_cast<std::size_t>(file[at + 2] << 8 | file[at + 3]);
    const bool scan = file[at + 1] == 0xda;
    const auto end = scan ? file.end() : file.begin() + static_cast<std::ptrdiff_t>(at + length);
    if (file[at + 1] != marker) out.insert(out.end(), file.begin() + static_cast<std::ptrdiff_t>(at), end);
    if (scan) break;
    at += length;
  }
  return out;
}

class JpegFixtures : public testing::Test {
 protected:
  void SetUp() override {
    FEEDRING_NEEDS_SHARED_DATA(data);
    folder_ = data / "fixtures";
  }
  [[nodiscard]] Bytes file(const std::string& name) const { return test::read_file(folder_ / name); }
  Picture picture(const std::string& name) {
    Picture picture;
    const Fault fault = test::decode_whole(decoder_, file(name), picture);
    EXPECT_FALSE(fault) << name << ": " << *fault;
    return picture;
  }

  std::filesystem::path folder_;
  Decoder decoder_;
};

TEST_F(JpegFixtures, EmptyCutAndFalseFilesGiveThreeDifferentReasons) {
  EXPECT_EQ(fault_of(decoder_, file("zero.jpg")), "the file is empty");
  EXPECT_THAT(fault_of(decoder_, file("truncated_header.jpg")), HasSubstr("Premature end of JPEG file"));
  EXPECT_THAT(fault_of(decoder_, file("not_an_image.jpg")), HasSubstr("HTML page"));
}

TEST_F(JpegFixtures, AHalfFileIsRefusedWhateverTheBox) {
  const Bytes half = file("truncated_half.jpg");
  for (const Box box : {Box{0, 0, 64, 48}, Box{0, 0, 1, 1}, Box{60, 0, 4, 8}}) {
    RgbView view;
    const Fault fault = decoder_.decode(half, {Format::kJpeg, {64, 48}}, box, view);
    ASSERT_TRUE(fault);
    EXPECT_THAT(*fault, HasSubstr("truncated"));
    EXPECT_EQ(view.data, nullptr);
  }
}

TEST_F(JpegFixtures, ChangedBytesThatStillAreAScanAreDelivered) {
  EXPECT_EQ(picture("bitrot.jpg").size, (Size{64, 48}));
  EXPECT_NE(picture("bitrot.jpg"), picture("ok.jpg"));
}

TEST_F(JpegFixtures, BytesAfterTheEndDoNotMatter) { EXPECT_EQ(picture("trailing_garbage.jpg"), picture("ok.jpg")); }

TEST_F(JpegFixtures, RedInCmykIsRed) {
  const Picture red = picture("cmyk_red.jpg");
  ASSERT_EQ(red.size, (Size{32, 32}));
  for (std::size_t i = 0; i < red.rgb.size(); i += 3) {
    EXPECT_NEAR(red.rgb[i], 255, 3);
    EXPECT_NEAR(red.rgb[i + 1], 0, 3);
    EXPECT_NEAR(red.rgb[i + 2], 0, 3);
  }
}

TEST_F(JpegFixtures, ExifOrientationIsNotApplied) {
  const Picture exif = picture("exif6.jpg");
  ASSERT_EQ(exif.size, (Size{64, 32}));  // the tag would make it 32 x 64
  EXPECT_EQ(exif, picture("exif6_ref_noexif.jpg"));
  const std::size_t row = std::size_t{16} * 64 * 3;
  EXPECT_GT(exif.rgb[row + 12], 200);   // red in column 4 …
  EXPECT_GT(exif.rgb[row + 122], 200);  // … and blue in column 40
}

TEST_F(JpegFixtures, GrayAndProgressiveGiveThreeChannels) {
  const Picture gray = picture("gray.jpg");
  for (std::size_t i = 0; i < gray.rgb.size(); i += 3) {
    ASSERT_EQ(gray.rgb[i], gray.rgb[i + 1]);
    ASSERT_EQ(gray.rgb[i], gray.rgb[i + 2]);
  }
  const Picture progressive = picture("progressive.jpg");
  EXPECT_EQ(progressive.rgb.size(), std::size_t{3} * progressive.size.width * progressive.size.height);
}

TEST_F(JpegFixtures, AGiantHeaderIsRefusedBeforeItCostsMemory) {
  const Bytes bomb = file("bomb_65500.jpg");
  const std::int64_t before = test::resident_bytes();
  ImageInfo info;
  const Fault fault = decoder_.probe(bomb, test::kMaxPixels, info);
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("65500 x 65500 pixels"));
  EXPECT_LT(test::resident_bytes() - before, (1 << 20) + test::kMemoryToSpare);
}

TEST_F(JpegFixtures, AnotherFormatUnderItsNameIsRead) {
  Picture named;
  Picture gif;
  ASSERT_FALSE(test::decode_whole(decoder_, file("gif_named.jpg"), named));
  ASSERT_FALSE(test::decode_whole(decoder_, file("anim3.gif"), gif));
  EXPECT_TRUE(named == gif);
}

TEST(Jpeg, TheLimitOfPixelsIsExact) {
  Decoder decoder;
  test::JpegShape shape;
  shape.width = 30;
  shape.height = 20;
  const Bytes bytes = test::write_jpeg(shape);
  ImageInfo info;
  EXPECT_FALSE(decoder.probe(bytes, 600, info));
  EXPECT_EQ(info.format, Format::kJpeg);
  EXPECT_EQ(info.size, (Size{30, 20}));
  EXPECT_THAT(decoder.probe(bytes, 599, info).value_or(""), HasSubstr("30 x 20 pixels are more than max_pixels = 599"));
}

TEST(Jpeg, ABoxOutsideTheImageIsRefused) {
  Decoder decoder;
  test::JpegShape shape;
  shape.width = 30;
  shape.height = 20;
  const Bytes bytes = test::write_jpeg(shape);
  const ImageInfo info{Format::kJpeg, {30, 20}};
  RgbView view;
  const Box outside[] = {{-1, 0, 5, 5}, {0, -1, 5, 5}, {26, 0, 5, 5}, {0, 16, 5, 5},
                         {0, 0, 0, 5},  {0, 0, 5, 0},  {0, 0, 31, 20}};
  for (const Box box : outside) EXPECT_TRUE(decoder.decode(bytes, info, box, view)) << box.x << ' ' << box.y;
  EXPECT_TRUE(decoder.decode(bytes, {Format::kJpeg, {30, 21}}, {0, 0, 5, 5}, view)) << "a size that is not the file's";
  EXPECT_FALSE(decoder.decode(bytes, info, {25, 15, 5, 5}, view));
}

TEST(Jpeg, EveryShorterPrefixIsAFault) {
  Decoder decoder;
  test::JpegShape shape;
  shape.width = 24;
  shape.height = 24;
  for (const bool progressive : {false, true}) {
    shape.progressive = progressive;
    const Bytes whole = test::write_jpeg(shape);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(fault_of(decoder, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))), "") << size;
    }
    EXPECT_EQ(fault_of(decoder, whole), "");
  }
}

TEST(Jpeg, DamageInsideAScanIsMetByBoxesThatEndBelowItOnly) {
  Decoder decoder;
  test::JpegShape shape;
  shape.width = 64;
  shape.height = 256;
  shape.components = 1;
  const Bytes good = test::write_jpeg(shape);
  Picture whole;
  ASSERT_FALSE(test::decode_whole(decoder, good, whole));
  Bytes bad = good;
  const auto middle = static_cast<std::ptrdiff_t>(bad.size() / 2);
  bad[static_cast<std::size_t>(middle)] = 0xff;  // a restart marker where none belongs
  bad[static_cast<std::size_t>(middle) + 1] = 0xd0;

  std::int32_t first_bad = 0;  // the lowest end of a box that is refused
  for (std::int32_t bottom = 1; bottom <= 256; ++bottom) {
    bool refused[2];
    const Box boxes[2] = {{0, bottom - 1, 3, 1}, {40, 0, 24, bottom}};
    for (int i = 0; i < 2; ++i) {
      refused[i] = !test::box_differs(decoder, bad, Format::kJpeg, whole, boxes[i]).empty();
    }
    EXPECT_EQ(refused[0], refused[1]) << bottom;
    if (refused[0] && first_bad == 0) first_bad = bottom;
    EXPECT_EQ(refused[0], first_bad != 0) << bottom;
  }
  EXPECT_GT(first_bad, 64);
  EXPECT_LT(first_bad, 192);
  EXPECT_EQ(first_bad % 8, 1);  // at the first row of a row of blocks
}

TEST(Jpeg, AFileWithoutTablesIsNotDecodedWithThoseOfItsPredecessor) {
  test::JpegShape shape;
  shape.width = 40;
  shape.height = 40;
  const Bytes plain = test::write_jpeg(shape);
  shape.progressive = true;  // such files bring Huffman tables of their own
  shape.quality = 30;
  const Bytes other = test::write_jpeg(shape);
  Picture expected;
  Picture got;
  Decoder fresh;
  Decoder used;
  ASSERT_FALSE(test::decode_whole(fresh, plain, expected));
  ASSERT_EQ(fault_of(used, other), "");
  // Without Huffman tables the standard ones hold, as in the frames of a Motion JPEG.
  ASSERT_FALSE(test::decode_whole(used, without_segments(plain, 0xc4), got));
  EXPECT_EQ(got, expected);
  ASSERT_EQ(fault_of(used, other), "");
  EXPECT_THAT(fault_of(used, without_segments(plain, 0xdb)), HasSubstr("Quantization table 0x00 was not defined"));
}

TEST(Jpeg, TwoComponentsAreRefusedByName) {
  Decoder decoder;
  test::JpegShape shape;
  shape.width = 16;
  shape.height = 16;
  shape.components = 2;
  EXPECT_THAT(fault_of(decoder, test::write_jpeg(shape)), HasSubstr("2 components"));
}

TEST(Jpeg, ThousandsOfScansAreRefused) {
  Decoder decoder;
  test::JpegShape shape;
  shape.width = 16;
  shape.height = 16;
  shape.components = 1;
  shape.scans.push_back({1, {0}, 0, 0, 0, 0});
  for (int coefficient = 1; coefficient <= 63; ++coefficient) {
    shape.scans.push_back({1, {0}, coefficient, coefficient, 0, 10});
    for (int bit = 10; bit > 0; --bit) shape.scans.push_back({1, {0}, coefficient, coefficient, bit, bit - 1});
  }
  ASSERT_GT(shape.scans.size(), 500U);
  EXPECT_THAT(fault_of(decoder, test::write_jpeg(shape)), HasSubstr("more than 500 scans"));
  shape.scans.resize(400);
  EXPECT_EQ(fault_of(decoder, test::write_jpeg(shape)), "");
}

}  // namespace
}  // namespace feedring
