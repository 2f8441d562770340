// SPDX-License-Identifier: Apache-2.0
// WebP, GIF, BMP, TIFF and PNM against Pillow, on every real file of theirs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "producers/decode/decoder.hpp"
#include "tests/support/pictures.hpp"

namespace feedring {
namespace {

using test::Picture;

// What Pillow takes and we refuse, or read otherwise; docs/formats.md says why.
constexpr const char* kRefused[] = {
    "10ct_32bit_128.tiff",
    "16_bit_binary_pgm.tiff",
    "16bit.s.tif",  // floats, 32 bits, signed
    "hopper.Lab.tif",
    "lab.tif",
    "lab-green.tif",
    "lab-red.tif",      // CIELAB
    "hopper_lzma.tif",  // a compression whose decoder takes what memory the data ask for
    "ycbcr_lzw_broken.tif",
    "issue_2811.gif",                                                          // damaged, beyond what libraries take
    "clusterfuzz-testcase-minimized-fuzzer_script_tiff-5026894169374720.tif",  // a warning of libjpeg
    "crash-0da013a13571cc8eb457a39fee8db18f8a3c7127.tif",                      // warnings of libtiff
    "crash-74d2a78403a5a59db1fb0a2b8735ac068a75f6e3.tif"};
constexpr const char* kDifferent[] = {"ycbcr_lzw_bt709.tif"};  // by its own coefficients, which Pillow ignores
// Taken by us alone: bit fields of any widths, 12 bytes that Debian's libtiff understands, a TIFF of WebP.
constexpr const char* kOursAlone[] = {"V3_A4_R4_G4_B4.bmp",     "V3_A4_R4_G4_B4_Top_Down.bmp",
                                      "V3_X4_R4_G4_B4.bmp",     "V3_X4_R4_G4_B4_Top_Down.bmp",
                                      "rgba16-1924.bmp",        "hopper_webp.tif",
                                      "TODO hpredict_cmyk.tiff"};
// With a background: RGBA without a tag that says so has no alpha for libtiff.
constexpr const char* kNoAlpha[] = {"tiff_wrong_bits_per_sample_3.tiff", "pil136.tiff",
                                    "tiff_wrong_bits_per_sample.tiff", "hpredict.tiff", "hpredict_packbits.tiff"};

template <std::size_t N>
bool is_one_of(const char* const (&names)[N], const std::filesystem::path& file) {
  return std::find(std::begin(names), std::end(names), file.filename().string()) != std::end(names);
}

class FormatPixels : public testing::TestWithParam<Format> {
 protected:
  /// Compares all files of the format; the number of those that both take.
  int compare(const DecodeOptions& options, const std::string& pillows) {
    const auto shared = test::shared_dir();
    const auto files = test::files_of({*shared / "data" / "nasty", *shared / "data" / "fixtures"}, GetParam());
    test::Pillow pillow(files, pillows);
    Decoder decoder;
    std::mt19937 rng(8);
    int both = 0;
    for (const auto& file : files) {
      const std::vector<std::uint8_t> bytes = test::read_file(file);
      Picture theirs;
      const Fault verdict = pillow.next(theirs);
      ImageInfo info;
      RgbView view;
      Fault fault = decoder.probe(bytes, test::kMaxPixels, info, options);
      if (!fault) fault = decoder.decode(bytes, info, {0, 0, info.size.width, info.size.height}, view);
      if (fault || verdict) {
        EXPECT_TRUE(fault || is_one_of(kOursAlone, file)) << file << ": Pillow says " << *verdict;
        EXPECT_TRUE(verdict || is_one_of(kRefused, file)) << file << ": " << *fault;
        continue;
      }
      ++both;
      const Picture ours = test::copy_of(view);
      const bool same = ours == theirs;
      const bool excepted = is_one_of(kDifferent, file) || (options.background && is_one_of(kNoAlpha, file));
      EXPECT_TRUE(same || excepted) << file;
      for (int i = 0; i < 3; ++i) {
        const Box box = test::random_box(rng, ours.size);
        EXPECT_EQ(test::box_differs(decoder, bytes, info, ours, box), "") << file;
      }
    }
    return both;
  }

  void SetUp() override {
    if (!test::shared_dir()) GTEST_SKIP() << "no shared data (FEEDRING_SHARED or ../shared beside the source)";
    if (!test::Pillow::is_current()) GTEST_SKIP() << "no current Pillow (./dev test fetches it)";
  }
};

TEST_P(FormatPixels, ArePillowsForEveryFileAndExactInBoxes) {
  EXPECT_GE(compare({}, ""), GetParam() == Format::kTiff ? 105 : 40);
}

TEST_P(FormatPixels, ArePillowsOverABackground) {
  DecodeOptions options;
  options.background = Rgb{10, 200, 77};
  compare(options, "--background=10,200,77");
}

TEST_P(FormatPixels, ArePillowsWhenTurned) {
  DecodeOptions options;
  options.exif_orientation = true;
  compare(options, "--exif");
}

INSTANTIATE_TEST_SUITE_P(Each, FormatPixels, testing::Values(Format::kWebp, Format::kGif, Format::kBmp, Format::kTiff),
                         [](const auto& format) { return std::string(name_of(format.param)); });

// Of JPEGs: turned, and damaged ones as Pillow gives them when it is told to load truncated images.
class JpegOptions : public testing::TestWithParam<std::pair<DecodeOptions, const char*>> {};

TEST_P(JpegOptions, GivePillowsPixels) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  if (!test::Pillow::is_current()) GTEST_SKIP() << "no current Pillow (./dev test fetches it)";
  const auto files = test::files_of({data / "nasty", data / "fixtures"}, Format::kJpeg);
  const auto& [options, pillows] = GetParam();
  test::Pillow pillow(files, pillows);
  Decoder decoder;
  int both = 0;
  for (const auto& file : files) {
    const std::vector<std::uint8_t> bytes = test::read_file(file);
    Picture theirs;
    const Fault verdict = pillow.next(theirs);
    ImageInfo info;
    RgbView view;
    if (decoder.probe(bytes, test::kMaxPixels, info, options)) continue;
    if (decoder.decode(bytes, info, {0, 0, info.size.width, info.size.height}, view)) continue;
    if (verdict) continue;
    ++both;
    EXPECT_TRUE(test::copy_of(view) == theirs) << file;
  }
  EXPECT_GE(both, 140);
}

INSTANTIATE_TEST_SUITE_P(Each, JpegOptions,
                         testing::Values(std::pair{DecodeOptions{.exif_orientation = true}, "--exif"},
                                         std::pair{DecodeOptions{.accept_damaged = true}, "--accept-damaged"}));

// JBIG's decoder takes the memory that its own data ask for, 2^32 pixels by 2^31 here, and ends the process without it.
TEST(TiffFiles, OfACompressionThatIsNotOursAreRefusedBeforeItsDecoderSeesThem) {
  Decoder decoder;
  for (const char* name : {"jbig.tif", "jbig_large.tif"}) {
    const auto bytes = test::read_file(std::filesystem::path(FEEDRING_SOURCE_DIR) / "tests/fuzz/corpus/decode" / name);
    ImageInfo info;
    EXPECT_EQ(decoder.probe(bytes, test::kMaxPixels, info), "a TIFF of compression 34661 is not supported") << name;
  }
}

}  // namespace
}  // namespace feedring
