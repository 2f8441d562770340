// SPDX-License-Identifier: Apache-2.0
// A box of a JPEG is byte for byte the same box of the whole image, and the whole image is Pillow's.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "producers/decode/decoder.hpp"
#include "tests/support/jpeg_writer.hpp"
#include "tests/support/pictures.hpp"

namespace feedring {
namespace {

using test::Picture;

void expect_exact_boxes(Decoder& decoder, const std::vector<std::uint8_t>& bytes, int boxes, std::mt19937& rng,
                        const std::string& name) {
  Picture whole;
  const Fault fault = test::decode_whole(decoder, bytes, whole);
  ASSERT_FALSE(fault) << name << ": " << *fault;
  for (int i = 0; i < boxes; ++i) {
    const Box box = test::random_box(rng, whole.size);
    ASSERT_EQ(test::box_differs(decoder, bytes, Format::kJpeg, whole, box), "") << name;
  }
}

TEST(JpegBoxes, AreExactOnPhotographs) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  Decoder decoder;
  std::mt19937 rng(1);
  const auto files = test::files_of({data / "photos"}, Format::kJpeg);
  ASSERT_GE(files.size(), 100U);
  for (const auto& file : files) expect_exact_boxes(decoder, test::read_file(file), 5, rng, file);
}

TEST(JpegBoxes, AreExactOnOddAndBrokenFiles) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  Decoder decoder;
  std::mt19937 rng(2);
  int decodable = 0;
  for (const auto& file : test::files_of({data / "nasty", data / "fixtures"}, Format::kJpeg)) {
    const auto bytes = test::read_file(file);
    Picture whole;
    if (test::decode_whole(decoder, bytes, whole)) continue;
    ++decodable;
    expect_exact_boxes(decoder, bytes, 20, rng, file);
  }
  EXPECT_GE(decodable, 130);
}

struct Factors {
  const char* name;
  int h[4];
  int v[4];
};

TEST(JpegBoxes, AreExactForEverySamplingOfTinyImages) {
  // Plain, doubled across, down and both, quadrupled, components that differ from each other, and chroma finer than
  // luma. At most ten blocks a unit, which is JPEG's limit.
  const Factors all[] = {
      {"4:4:4", {1, 1, 1, 1}, {1, 1, 1, 1}},       {"4:2:2", {2, 1, 1, 2}, {1, 1, 1, 1}},
      {"4:4:0", {1, 1, 1, 1}, {2, 1, 1, 2}},       {"4:2:0", {2, 1, 1, 2}, {2, 1, 1, 2}},
      {"4:1:1", {4, 1, 1, 4}, {1, 1, 1, 1}},       {"1x4", {1, 1, 1, 1}, {4, 1, 1, 4}},
      {"4x2 and 2x1", {4, 2, 2, 1}, {1, 1, 1, 1}}, {"mixed", {2, 1, 2, 1}, {2, 2, 1, 1}},
      {"fine chroma", {1, 2, 2, 1}, {1, 1, 2, 1}}, {"all 2x2", {2, 2, 1, 1}, {2, 1, 1, 1}},
      {"3x1", {3, 1, 1, 3}, {1, 1, 1, 1}},
  };
  Decoder decoder;
  std::mt19937 rng(3);
  int boxes = 0;
  for (const Factors& factors : all) {
    for (int i = 0; i < 90; ++i) {
      test::JpegShape shape;
      shape.width = 1 + static_cast<int>(rng() % 70);
      shape.height = 1 + static_cast<int>(rng() % 70);
      const int kinds[] = {3, 3, 3, 4, 1};
      shape.components = kinds[rng() % 5];
      std::copy_n(factors.h, 4, shape.h);
      std::copy_n(factors.v, 4, shape.v);
      shape.ycc = rng() % 4 != 0;
      shape.progressive = rng() % 4 == 0;
      shape.arithmetic = rng() % 8 == 0;
      shape.restart_rows = rng() % 3 == 0 ? 1 : 0;
      shape.seed = rng();
      int blocks = 0;
      for (int c = 0; c < shape.components; ++c) blocks += shape.h[c] * shape.v[c];
      if (blocks > 10) shape.components = 3;
      expect_exact_boxes(decoder, test::write_jpeg(shape), 12, rng,
                         std::string(factors.name) + " " + std::to_string(shape.width) + "x" +
                             std::to_string(shape.height) + (shape.progressive ? " progressive" : ""));
      if (HasFatalFailure()) return;
      boxes += 12;
    }
  }
  EXPECT_GE(boxes, 10'000);
}

TEST(JpegBoxes, AreExactInScansOfOneComponent) {
  Decoder decoder;
  std::mt19937 rng(4);
  for (int i = 0; i < 40; ++i) {
    test::JpegShape shape;
    shape.width = 1 + static_cast<int>(rng() % 60);
    shape.height = 1 + static_cast<int>(rng() % 60);
    shape.h[0] = 1 + static_cast<int>(rng() % 2);
    shape.v[0] = 1 + static_cast<int>(rng() % 2);
    for (int c = 0; c < 3; ++c) shape.scans.push_back({1, {c}, 0, 63, 0, 0});
    expect_exact_boxes(decoder, test::write_jpeg(shape), 15, rng, "sequential scans");
    if (HasFatalFailure()) return;
  }
}

TEST(JpegBoxes, AreExactWhereLibjpegSmoothsAnUnfinishedProgressiveFile) {
  Decoder decoder;
  std::mt19937 rng(5);
  for (int i = 0; i < 40; ++i) {
    test::JpegShape shape;
    shape.width = 20 + static_cast<int>(rng() % 90);
    shape.height = 20 + static_cast<int>(rng() % 90);
    shape.h[0] = 1 + static_cast<int>(rng() % 2);
    shape.v[0] = 1 + static_cast<int>(rng() % 2);
    // DC to the last bit but one, and in half of the files a few coarse AC coefficients of the first component.
    shape.scans.push_back({3, {0, 1, 2}, 0, 0, 0, 1});
    if (i % 2 == 0) shape.scans.push_back({1, {0}, 1, 5, 0, 2});
    expect_exact_boxes(decoder, test::write_jpeg(shape), 15, rng, "unfinished");
    if (HasFatalFailure()) return;
  }
}

// What Pillow says of each file with a JPEG signature, and where we say something else on purpose.
bool pillow_is_laxer(const std::string& name) {
  return name == "partial_progressive.jpg" ||  // a scan cut short, though an end marker follows
         name == "hopper_bad_exif.jpg";        // impossible Huffman codes in the scan
}
bool pillow_is_stricter(const std::string& name) {
  return name == "truncated_exif_dpi.jpg";  // the pixels are whole, Pillow stumbles over the EXIF data
}

TEST(JpegPixels, ArePillowsForEveryFile) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  if (!test::Pillow::is_installed()) GTEST_SKIP() << "no Pillow for /usr/bin/python3 (python3-pil)";
  const auto files =
      test::files_of({data / "photos", data / "clothing", data / "nasty", data / "fixtures"}, Format::kJpeg);
  ASSERT_GE(files.size(), 300U);
  test::Pillow pillow(files);
  Decoder decoder;
  for (const auto& file : files) {
    Picture ours;
    Picture theirs;
    const Fault fault = test::decode_whole(decoder, test::read_file(file), ours);
    const Fault verdict = pillow.next(theirs);
    const std::string name = file.filename();
    if (verdict || pillow_is_laxer(name)) {
      EXPECT_EQ(fault.has_value(), !pillow_is_stricter(name)) << file << ": Pillow says " << verdict.value_or("ok");
    } else {
      EXPECT_FALSE(fault) << file << ": " << *fault;
      EXPECT_TRUE(ours == theirs) << file;
    }
  }
}

}  // namespace
}  // namespace feedring
