// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "producers/decode/decoder.hpp"
#include "tests/support/pictures.hpp"
#include "tests/support/png_writer.hpp"

namespace feedring {
namespace {

using test::Picture;
using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

std::string fault_of(Decoder& decoder, const Bytes& bytes) {
  Picture picture;
  return test::decode_whole(decoder, bytes, picture).value_or("");
}

class PngFixtures : public testing::Test {
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

TEST_F(PngFixtures, SixteenBitSamplesAreRounded) {
  EXPECT_THAT(picture("gray16.png").rgb, ElementsAre(0, 0, 0, 1, 1, 1, 128, 128, 128, 255, 255, 255));
}

TEST_F(PngFixtures, APaletteWithTransparencyGivesItsColours) {
  const Picture big = picture("pal_trns_big.png");
  ASSERT_EQ(big.size, (Size{300, 200}));
  ASSERT_EQ(big.rgb.size(), 200U * 900U);
  for (std::size_t i = 0; i < big.rgb.size(); i += 3) {
    const std::vector<std::uint8_t> pixel(big.rgb.begin() + static_cast<std::ptrdiff_t>(i),
                                          big.rgb.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    ASSERT_TRUE(pixel == (std::vector<std::uint8_t>{17, 34, 51}) || pixel == (std::vector<std::uint8_t>{68, 85, 102}));
  }
}

TEST_F(PngFixtures, AlphaIsDroppedAndNotBlended) {
  EXPECT_THAT(picture("rgba.png").rgb, ElementsAre(200, 100, 50, 200, 100, 50));  // alpha 0 and 255
  const Picture gray = picture("la.png");
  for (std::size_t i = 0; i < gray.rgb.size(); i += 3) EXPECT_EQ(gray.rgb[i], gray.rgb[i + 2]);
}

TEST_F(PngFixtures, TheContentDecidesNotTheName) {
  ImageInfo info;
  ASSERT_FALSE(decoder_.probe(file("png_named.JPEG"), test::kMaxPixels, info));
  EXPECT_EQ(info.format, Format::kPng);
  EXPECT_FALSE(picture("png_named.JPEG").rgb.empty());
}

TEST_F(PngFixtures, AGiantHeaderIsRefusedBeforeItCostsMemory) {
  const Bytes bomb = file("bomb_60000.png");
  ASSERT_EQ(bomb.size(), 69U);
  const std::int64_t before = test::resident_bytes();
  EXPECT_THAT(fault_of(decoder_, bomb), HasSubstr("60000 x 60000 pixels are more than max_pixels"));
  EXPECT_LT(test::resident_bytes() - before, (1 << 20) + test::kMemoryToSpare);
}

TEST_F(PngFixtures, ChecksumsAndTheEndAreChecked) {
  EXPECT_THAT(fault_of(decoder_, file("png_badcrc.png")), HasSubstr("libspng: "));
  EXPECT_THAT(fault_of(decoder_, file("png_trunc.png")), HasSubstr("truncated PNG"));
}

TEST(Png, EveryDepthAndColourTypeGivesItsPixelsAndExactBoxes) {
  const std::pair<int, int> kinds[] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                                       {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
  Decoder decoder;
  std::mt19937 rng(1);
  for (const auto& [colour_type, depth] : kinds) {
    for (const bool interlaced : {false, true}) {
      for (int i = 0; i < 12; ++i) {
        const std::uint32_t width = 1 + rng() % 40;
        const std::uint32_t height = 1 + rng() % 40;
        const test::PngSample sample = test::write_png(width, height, static_cast<std::uint8_t>(colour_type),
                                                       static_cast<std::uint8_t>(depth), interlaced, rng());
        ASSERT_FALSE(sample.file.empty());
        const std::string name = "type " + std::to_string(colour_type) + ", " + std::to_string(depth) + " bit" +
                                 (interlaced ? ", interlaced, " : ", ") + std::to_string(width) + "x" +
                                 std::to_string(height);
        Picture whole;
        const Fault fault = test::decode_whole(decoder, sample.file, whole);
        ASSERT_FALSE(fault) << name << ": " << *fault;
        ASSERT_TRUE(whole == sample.picture) << name;
        for (int k = 0; k < 10; ++k) {
          const Box box = test::random_box(rng, whole.size);
          ASSERT_EQ(test::box_differs(decoder, sample.file, Format::kPng, whole, box), "") << name;
        }
      }
    }
  }
}

TEST(Png, SixteenBitsAreRoundedForEveryValue) {
  Decoder decoder;
  // 256 x 256 random samples hold most values; what they should be is computed in floating point.
  const test::PngSample sample = test::write_png(256, 256, 0, 16, false, 7);
  Picture whole;
  ASSERT_FALSE(test::decode_whole(decoder, sample.file, whole));
  EXPECT_TRUE(whole == sample.picture);
}

TEST(Png, EveryShorterPrefixIsAFaultWhateverTheBox) {
  Decoder decoder;
  const test::PngSample sample = test::write_png(20, 20, 2, 8, false, 3);
  // The last four bytes are the checksum of the empty end chunk, which tells nothing and which libspng does not read.
  for (std::size_t size = 0; size < sample.file.size() - 4; ++size) {
    const Bytes prefix(sample.file.begin(), sample.file.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(fault_of(decoder, prefix), "") << size;
    RgbView view;
    EXPECT_TRUE(decoder.decode(prefix, {Format::kPng, {20, 20}}, {0, 0, 1, 1}, view)) << size;
  }
  EXPECT_EQ(fault_of(decoder, sample.file), "");
}

TEST(Png, EveryChangedByteOfThePixelsIsNoticed) {
  Decoder decoder;
  const test::PngSample sample = test::write_png(20, 20, 2, 8, false, 4);
  // Signature (8), header chunk (25), then length and name of the IDAT chunk (8); the last chunk takes 12.
  for (std::size_t at = 41; at < sample.file.size() - 12; ++at) {
    Bytes changed = sample.file;
    changed[at] ^= 0x20;
    EXPECT_NE(fault_of(decoder, changed), "") << at;
  }
}

TEST(Png, BytesAfterTheEndDoNotMatter) {
  Decoder decoder;
  test::PngSample sample = test::write_png(9, 9, 6, 8, true, 5);
  sample.file.insert(sample.file.end(), 100, 0xa5);
  Picture whole;
  ASSERT_FALSE(test::decode_whole(decoder, sample.file, whole));
  EXPECT_TRUE(whole == sample.picture);
}

TEST(Png, AChangedSizeIsNoticed) {
  Decoder decoder;
  const test::PngSample sample = test::write_png(9, 9, 2, 8, false, 6);
  RgbView view;
  EXPECT_TRUE(decoder.decode(sample.file, {Format::kPng, {9, 10}}, {0, 0, 3, 3}, view));
}

// Files that Pillow takes and we refuse: the checksum of the pixels or of another critical chunk is wrong, or the file
// is shorter than its pixel chunk says.
bool pillow_is_laxer(const std::string& name) {
  return name == "xcsn0g01.png" || name == "badcrc.png" || name == "huge_IDAT.png";
}
// And the other way round: the pixels are whole, Pillow stumbles over texts, a profile or the animation.
bool pillow_is_stricter(const std::string& name) {
  return name == "png_decompression_dos.png" || name == "unknown_compression_method.png" || name == "chunk_no_fctl.png";
}

TEST(PngPixels, ArePillowsForEveryFileAndExactInBoxes) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  if (!test::Pillow::is_current()) GTEST_SKIP() << "no current Pillow (./dev test fetches it)";
  const auto files = test::files_of({data / "nasty", data / "fixtures"}, Format::kPng);
  ASSERT_GE(files.size(), 500U);
  test::Pillow pillow(files);
  Decoder decoder;
  std::mt19937 rng(8);
  for (const auto& file : files) {
    const Bytes bytes = test::read_file(file);
    Picture ours;
    Picture theirs;
    const Fault fault = test::decode_whole(decoder, bytes, ours);
    const Fault verdict = pillow.next(theirs);
    const std::string name = file.filename();
    if (verdict || pillow_is_laxer(name)) {
      EXPECT_EQ(fault.has_value(), !pillow_is_stricter(name)) << file << ": Pillow says " << verdict.value_or("ok");
      continue;
    }
    ASSERT_FALSE(fault) << file << ": " << *fault;
    EXPECT_TRUE(ours == theirs) << file;
    for (int i = 0; i < 3; ++i) {
      const Box box = test::random_box(rng, ours.size);
      ASSERT_EQ(test::box_differs(decoder, bytes, Format::kPng, ours, box), "") << file;
    }
  }
}

}  // namespace
}  // namespace feedring
