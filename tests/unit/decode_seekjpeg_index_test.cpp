// SPDX-License-Identifier: Apache-2.0
// A crop that is entered by the seek index has the pixels of one that is not; an index is made of a whole and good scan
// alone; and one that is wrong leads nowhere outside of the picture.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "producers/decode/jpeg.hpp"
#include "producers/decode/seekjpeg/crop_decoder.hpp"
#include "producers/decode/seekjpeg/header.hpp"
#include "tests/support/jpeg_writer.hpp"
#include "tests/support/one_shelf.hpp"
#include "tests/support/pictures.hpp"

namespace feedring {
namespace {

using Bytes = std::vector<std::uint8_t>;
using test::OneShelf;
using test::Picture;

constexpr std::size_t kMemory = std::size_t{1} << 30;

Picture part_of(const Picture& whole, Box box) {
  const std::size_t row = std::size_t{3} * static_cast<std::size_t>(whole.size.width);
  return test::copy_of(
      {whole.rgb.data() + row * static_cast<std::size_t>(box.y) + std::size_t{3} * static_cast<std::size_t>(box.x),
       {box.width, box.height},
       row});
}

class SeekIndex : public testing::Test {
 protected:
  Fault by_libjpeg(const Bytes& bytes, Picture& whole) {
    Size size;
    arena_.reset(kMemory);
    if (Fault fault = libjpeg_.header(bytes, arena_, size)) return fault;
    RgbView view;
    if (Fault fault = libjpeg_.pixels(bytes, size, {0, 0, size.width, size.height}, false, arena_, view)) return fault;
    whole = test::copy_of(view);
    return std::nullopt;
  }
  bool pixels(const Bytes& bytes, Size size, Box box, RgbView& out) {
    own_arena_.reset(kMemory);
    return own_.pixels(bytes, size, box, own_arena_, out, &shelf_);
  }
  /// Boxes of a file, the first of which makes the index.
  void expect_exact(const Bytes& bytes, int boxes, std::mt19937& rng, const std::string& name) {
    Picture whole;
    ASSERT_FALSE(by_libjpeg(bytes, whole)) << name;
    shelf_.entries.clear();
    for (int i = 0; i < boxes; ++i) {
      const Box box = test::random_box(rng, whole.size);
      RgbView view;
      ASSERT_TRUE(pixels(bytes, whole.size, box, view)) << name;
      ASSERT_FALSE(shelf_.entries.empty()) << name;
      ASSERT_TRUE(part_of(whole, box) == test::copy_of(view))
          << name << " in box " << box.x << ',' << box.y << ' ' << box.width << 'x' << box.height << " of "
          << whole.size.width << 'x' << whole.size.height;
    }
  }

  JpegDecoder libjpeg_;
  seekjpeg::CropDecoder own_;
  OneShelf shelf_;
  Arena arena_;
  Arena own_arena_;
};

test::JpegShape shape_of(int across, int down, int width, int height, std::uint32_t seed) {
  test::JpegShape shape;
  shape.width = width;
  shape.height = height;
  shape.h[0] = across;
  shape.v[0] = down;
  shape.seed = seed;
  return shape;
}

TEST_F(SeekIndex, GivesTheSamePixelsForEverySampling) {
  std::mt19937 rng(21);
  const int factors[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};
  for (int i = 0; i < 240; ++i) {
    const auto& [across, down] = factors[rng() % 5];
    test::JpegShape shape = shape_of(across, down, 5 + static_cast<int>(rng() % (i % 4 == 0 ? 700 : 90)),
                                     1 + static_cast<int>(rng() % 90), rng());
    const int qualities[] = {5, 50, 90, 100};
    shape.quality = qualities[rng() % 4];
    shape.optimized = rng() % 2 != 0;
    if (rng() % 6 == 0) shape.components = 1;
    expect_exact(test::write_jpeg(shape), 20, rng, std::to_string(across) + "x" + std::to_string(down));
    if (HasFatalFailure()) return;
  }
}

TEST_F(SeekIndex, GivesTheSamePixelsOfPhotographs) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  std::mt19937 rng(22);
  const auto files = test::files_of({data / "photos"}, Format::kJpeg);
  for (std::size_t i = 0; i < files.size(); i += 2) expect_exact(test::read_file(files[i]), 8, rng, files[i]);
}

TEST_F(SeekIndex, SaysWhereEverySixteenthUnitBegins) {
  // Gray 200 at a quality of 100: each block is DC alone, (200 - 128) * 8 = 576. With the tables of ITU T.81, K.3: the
  // first takes 8 + 10 bits (category 10) and 4 for the end of the block, each other one 2 (no difference) and 4.
  jpeg_compress_struct cinfo;
  jpeg_error_mgr errors;
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_compress(&cinfo);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&cinfo, &memory, &size);
  cinfo.image_width = 8 * 40;
  cinfo.image_height = 16;
  cinfo.input_components = 1;
  cinfo.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&cinfo);
  jpeg_set_quality(&cinfo, 100, TRUE);
  jpeg_start_compress(&cinfo, TRUE);
  std::vector<std::uint8_t> row(320, 200);
  JSAMPROW rows[] = {row.data()};
  for (int y = 0; y < 16; ++y) jpeg_write_scanlines(&cinfo, rows, 1);
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  const Bytes bytes(memory, memory + size);
  std::free(memory);

  RgbView view;
  ASSERT_TRUE(pixels(bytes, {320, 16}, {0, 0, 8, 8}, view));
  ASSERT_EQ(shelf_.entries.size(), 6U);
  const std::uint32_t positions[] = {0, 22 + 15 * 6, 22 + 31 * 6, 22 + 39 * 6, 22 + 55 * 6, 22 + 71 * 6};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(shelf_.entries[i].position(), positions[i]) << i;
    EXPECT_EQ(shelf_.entries[i].dc[0], i == 0 ? 0 : 576) << i;
  }
}

TEST_F(SeekIndex, IsNotMadeOfAScanThatIsDamagedBehindTheBox) {
  const Bytes good = test::write_jpeg(shape_of(2, 2, 64, 256, 5));
  Bytes bad = good;
  bad[bad.size() * 3 / 4] = 0xff;
  bad[bad.size() * 3 / 4 + 1] = 0xd0;
  Picture whole;
  ASSERT_FALSE(by_libjpeg(good, whole));
  const Box top{3, 5, 40, 50};
  RgbView view;
  ASSERT_TRUE(pixels(bad, {64, 256}, top, view));
  EXPECT_TRUE(part_of(whole, top) == test::copy_of(view));
  EXPECT_TRUE(shelf_.entries.empty());
  ASSERT_TRUE(pixels(good, {64, 256}, top, view));
  EXPECT_FALSE(shelf_.entries.empty());
}

TEST_F(SeekIndex, ThatIsWrongLeadsNowhereElse) {
  std::mt19937 rng(23);
  const Bytes bytes = test::write_jpeg(shape_of(2, 2, 300, 120, 5));
  Picture whole;
  ASSERT_FALSE(by_libjpeg(bytes, whole));
  RgbView view;
  ASSERT_TRUE(pixels(bytes, whole.size, {0, 0, 9, 9}, view));
  const std::vector<seekjpeg::Entry> right = shelf_.entries;
  ASSERT_FALSE(right.empty());
  for (int i = 0; i < 2000; ++i) {
    shelf_.entries = right;
    for (std::uint32_t changes = rng() % 20; changes != 0; --changes) {
      seekjpeg::Entry& entry = shelf_.entries[rng() % right.size()];
      entry = {static_cast<std::uint16_t>(rng()),
               static_cast<std::uint16_t>(rng() % 3 == 0 ? rng() : 0),
               {static_cast<std::int16_t>(rng()), static_cast<std::int16_t>(rng()), static_cast<std::int16_t>(rng())}};
    }
    if (i % 10 == 0) shelf_.entries.resize(rng() % (2 * right.size()) + 1);
    const Box box = test::random_box(rng, whole.size);
    ASSERT_TRUE(pixels(bytes, whole.size, box, view));  // by the index, or without where that cannot be
    ASSERT_EQ(view.size, (Size{box.width, box.height}));
  }
}

}  // namespace
}  // namespace feedring
