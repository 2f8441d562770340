// SPDX-License-Identifier: Apache-2.0
// The own JPEG decoder gives libjpeg-turbo's pixels, or leaves the file to it: never other pixels, and never pixels of
// a file that libjpeg-turbo refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "producers/decode/jpeg.hpp"
#include "producers/decode/seekjpeg/crop_decoder.hpp"
#include "producers/decode/seekjpeg/header.hpp"
#include "resample_targets.hpp"
#include "tests/support/jpeg_writer.hpp"
#include "tests/support/pictures.hpp"

namespace feedring {
namespace {

using test::Picture;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMemory = std::size_t{1} << 30;

/// Both decoders on the same box.
class Pair {
 public:
  /// Whether the own decoder took the file. It must have done right; libjpeg's is the word on what right is.
  bool is_own(const Bytes& bytes, Box box, const std::string& name) {
    Size size;
    arena_.reset(kMemory);
    if (libjpeg_.header(bytes, arena_, size)) return false;
    box.width = std::min(box.width, size.width - box.x);
    box.height = std::min(box.height, size.height - box.y);
    own_arena_.reset(kMemory);
    RgbView own;
    if (!own_.pixels(bytes, size, box, own_arena_, own)) return false;
    arena_.reset(kMemory);
    RgbView expected;
    const Fault fault = libjpeg_.pixels(bytes, size, box, false, arena_, expected);
    const std::string where = name + " in box " + std::to_string(box.x) + "," + std::to_string(box.y) + " " +
                              std::to_string(box.width) + "x" + std::to_string(box.height) + " of " +
                              std::to_string(size.width) + "x" + std::to_string(size.height);
    EXPECT_FALSE(fault) << where << ": " << *fault;
    EXPECT_TRUE(fault || test::copy_of(own) == test::copy_of(expected)) << where;
    return true;
  }
  /// Boxes are those of libjpeg's whole picture; gives how many of them the own decoder took.
  int own_boxes(const Bytes& bytes, int boxes, std::mt19937& rng, const std::string& name) {
    Size size;
    arena_.reset(kMemory);
    if (libjpeg_.header(bytes, arena_, size)) return 0;
    RgbView view;
    if (libjpeg_.pixels(bytes, size, {0, 0, size.width, size.height}, false, arena_, view)) return 0;
    const Picture whole = test::copy_of(view);
    int own = 0;
    for (int i = 0; i < boxes; ++i) {
      const Box box = i == 0 ? Box{0, 0, size.width, size.height} : test::random_box(rng, size);
      own_arena_.reset(kMemory);
      if (!own_.pixels(bytes, size, box, own_arena_, view)) continue;
      ++own;
      EXPECT_TRUE(part_of(whole, box) == test::copy_of(view))
          << name << " in box " << box.x << ',' << box.y << ' ' << box.width << 'x' << box.height << " of "
          << size.width << 'x' << size.height;
    }
    return own;
  }

 private:
  static Picture part_of(const Picture& whole, Box box) {
    return test::copy_of(
        {whole.rgb.data() + std::size_t{3} * (static_cast<std::size_t>(box.y) * whole.size.width + box.x),
         {box.width, box.height},
         std::size_t{3} * whole.size.width});
  }

  JpegDecoder libjpeg_;
  seekjpeg::CropDecoder own_;
  Arena arena_;
  Arena own_arena_;
};

struct Sampling {
  const char* name;
  int across;
  int down;
  int components = 3;
};
constexpr Sampling kSamplings[] = {{"4:4:4", 1, 1}, {"4:2:2", 2, 1},   {"4:2:0", 2, 2},       {"4:4:0", 1, 2},
                                   {"4:1:1", 4, 1}, {"gray", 1, 1, 1}, {"gray, 2x2", 2, 2, 1}};

test::JpegShape shape_of(const Sampling& sampling, int width, int height, int quality, std::uint32_t seed) {
  test::JpegShape shape;
  shape.width = width;
  shape.height = height;
  shape.components = sampling.components;
  shape.h[0] = sampling.across;
  shape.v[0] = sampling.down;
  shape.quality = quality;
  shape.seed = seed;
  return shape;
}

TEST(SeekJpeg, IsExactForEverySamplingAtEveryBox) {
  Pair pair;
  std::mt19937 rng(11);
  for (const Sampling& sampling : kSamplings) {
    int own = 0;
    for (int i = 0; i < 120; ++i) {
      const int width = 5 + static_cast<int>(rng() % (i % 8 == 0 ? 300 : 80));
      const int height = 1 + static_cast<int>(rng() % (i % 8 == 0 ? 200 : 80));
      const int qualities[] = {1, 10, 50, 75, 90, 100};
      test::JpegShape shape = shape_of(sampling, width, height, qualities[rng() % 6], rng());
      shape.optimized = rng() % 2 != 0;
      own += pair.own_boxes(test::write_jpeg(shape), 30, rng, sampling.name);
      if (HasFailure()) return;
    }
    EXPECT_EQ(own, 120 * 30) << sampling.name;  // none of these is left to libjpeg
  }
}

class SeekJpegOn : public test::OnInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, SeekJpegOn, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::name_of_instruction_set);

/// Multiplies each coefficient by so much, whatever the picture was written with.
void set_quantisation(Bytes& bytes, std::uint8_t value) {
  for (std::size_t at = 2; at + 4 < bytes.size() && bytes[at + 1] != 0xDA;) {
    const std::size_t length = bytes[at + 2] * std::size_t{256} + bytes[at + 3];
    for (std::size_t table = at + 4; bytes[at + 1] == 0xDB && table + 65 <= at + 2 + length; table += 65)
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(table) + 1, 64, value);
    at += 2 + length;
  }
}

// Between the passes and at their end libjpeg's loops saturate, wrap or do not, as they were written for a processor.
TEST_P(SeekJpegOn, IsExactOrLeavesItWhereNumbersAreLargerThanInAnyPicture) {
  Pair pair;
  std::mt19937 rng(17);
  int own = 0;
  for (int i = 0; i < 300; ++i) {
    const int qualities[] = {5, 30, 75, 100};
    Bytes bytes = test::write_jpeg(shape_of(kSamplings[rng() % 5], 8 + static_cast<int>(rng() % 60),
                                            1 + static_cast<int>(rng() % 60), qualities[rng() % 4], rng()));
    set_quantisation(bytes, std::vector<std::uint8_t>{1, 8, 40, 120, 255}[rng() % 5]);
    own += pair.own_boxes(bytes, 5, rng, "overflowing");
    if (HasFailure()) return;
  }
  EXPECT_GT(own, 100) << "or nothing was compared";
}

TEST(SeekJpeg, TakesPhotographsAndIsExact) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  Pair pair;
  std::mt19937 rng(12);
  const auto files = test::files_of({data / "photos"}, Format::kJpeg);
  for (const auto& file : files) EXPECT_EQ(pair.own_boxes(test::read_file(file), 8, rng, file), 8) << file;
}

TEST(SeekJpeg, IsExactOnOddAndBrokenFilesThatItTakes) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  Pair pair;
  std::mt19937 rng(13);
  int taken = 0;
  for (const auto& file : test::files_of({data / "nasty", data / "fixtures"}, Format::kJpeg)) {
    const Bytes bytes = test::read_file(file);
    taken += pair.own_boxes(bytes, 20, rng, file) != 0 ? 1 : 0;
    for (int i = 0; i < 5; ++i) pair.is_own(bytes, {0, 0, 1 << (2 * i), 1 << (2 * i)}, file);
  }
  EXPECT_GE(taken, 40);
}

TEST(SeekJpeg, LeavesWhatItDoesNotKnowToLibjpeg) {
  Pair pair;
  const auto is_own = [&](auto change) {
    test::JpegShape shape = shape_of(kSamplings[2], 40, 40, 90, 3);
    change(shape);
    return pair.is_own(test::write_jpeg(shape), {0, 0, 40, 40}, "");
  };
  EXPECT_TRUE(is_own([](auto&) {}));
  EXPECT_FALSE(is_own([](auto& shape) { shape.progressive = true; }));
  EXPECT_FALSE(is_own([](auto& shape) { shape.arithmetic = true; }));
  EXPECT_FALSE(is_own([](auto& shape) { shape.restart_rows = 1; }));
  EXPECT_FALSE(is_own([](auto& shape) { shape.ycc = false; }));
  EXPECT_FALSE(is_own([](auto& shape) { shape.components = 4; }));
  EXPECT_FALSE(is_own([](auto& shape) { shape.width = 4; }));
  EXPECT_FALSE(is_own([](auto& shape) { shape.h[1] = 2; }));
  EXPECT_FALSE(is_own([](auto& shape) { shape.h[0] = 3; }));
  EXPECT_FALSE(is_own([](auto& shape) {
    for (int c = 0; c < 3; ++c) shape.scans.push_back({1, {c}, 0, 63, 0, 0});
  }));
}

/// A Decoder and libjpeg alone say the same of damaged bytes: fine or not, and then the same pixels.
TEST(SeekJpeg, DamageIsMetByTheSameBoxesAsWithLibjpegAlone) {
  std::mt19937 rng(14);
  Decoder decoder;
  JpegDecoder libjpeg;
  Arena arena;
  int faults = 0;
  int fine = 0;
  for (int i = 0; i < 4000; ++i) {
    const Sampling& sampling = kSamplings[rng() % 7];
    Bytes bytes = test::write_jpeg(shape_of(sampling, 20 + static_cast<int>(rng() % 60),
                                            20 + static_cast<int>(rng() % 90), rng() % 2 == 0 ? 95 : 30, rng()));
    seekjpeg::Header header;
    ASSERT_TRUE(seekjpeg::read_header(bytes, header));
    const std::size_t begin = static_cast<std::size_t>(header.scan.data() - bytes.data());
    const std::size_t at = begin + rng() % (bytes.size() - begin - 4);
    switch (rng() % 5) {
      case 0: bytes[at] = static_cast<std::uint8_t>(rng()); break;
      case 1:
        bytes[at] = 0xff;
        bytes[at + 1] = static_cast<std::uint8_t>(0xd0 + rng() % 10);
        break;
      case 2: bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end() - 2); break;  // the end is there
      case 3: bytes[at] = bytes[at + 1] = 0xff; break;
      default: bytes[20 + rng() % (begin - 20)] = static_cast<std::uint8_t>(rng()); break;
    }
    Size size;
    arena.reset(kMemory);
    if (libjpeg.header(bytes, arena, size) || size.width * size.height > 100'000) continue;
    for (int j = 0; j < 3; ++j) {
      const Box box = test::random_box(rng, size);
      for (const bool accept : {false, true}) {
        RgbView got;
        RgbView expected;
        arena.reset(kMemory);
        const Fault said = libjpeg.pixels(bytes, size, box, accept, arena, expected);
        const Fault says = decoder.decode(bytes, {Format::kJpeg, size, 1, {.accept_damaged = accept}}, box, got);
        ASSERT_EQ(says, said) << i << ' ' << sampling.name;
        ASSERT_TRUE(said || test::copy_of(got) == test::copy_of(expected)) << i << ' ' << sampling.name;
        ++(said ? faults : fine);
      }
    }
  }
  EXPECT_GE(faults, 1000);
  EXPECT_GE(fine, 1000);
}

}  // namespace
}  // namespace feedring
