// SPDX-License-Identifier: Apache-2.0
// Decoders fed with what real data sets and enemies hold: nothing crashes, nothing leaks, memory stays where it is.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "producers/decode/decoder.hpp"
#include "tests/support/jpeg_writer.hpp"
#include "tests/support/pictures.hpp"
#include "tests/support/png_writer.hpp"

namespace feedring {
namespace {

using test::Picture;
using Bytes = std::vector<std::uint8_t>;

TEST(DecodeRobust, EveryNastyFileIsDecodedOrRefused) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  Decoder decoder;
  std::mt19937 rng(1);
  int files = 0;
  int decoded = 0;
  for (const auto& folder : {data / "nasty", data / "fixtures"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      const Bytes bytes = test::read_file(entry.path());
      ++files;
      ImageInfo info;
      if (const Fault fault = decoder.probe(bytes, test::kMaxPixels, info)) {
        EXPECT_FALSE(fault->empty()) << entry.path();
        continue;
      }
      for (int i = 0; i < 2; ++i) {
        const Box whole{0, 0, info.size.width, info.size.height};
        RgbView view;
        if (decoder.decode(bytes, info, i == 0 ? whole : test::random_box(rng, info.size), view)) continue;
        // Every byte that a reader may touch is there.
        const std::uint8_t* last_row = view.data + view.stride * (view.size.height - 1);
        const std::uint8_t* end = last_row + std::size_t{3} * view.size.width + kSlack;
        EXPECT_GE(std::accumulate(view.data, end, std::uint64_t{0}), 0U);
        ++decoded;
      }
    }
  }
  EXPECT_GE(files, 1500);
  EXPECT_GE(decoded, 2200);
}

/// A file with one to eight changes: bytes replaced, a piece cut out, a piece doubled, the end cut off.
Bytes mutated(Bytes file, std::mt19937& rng) {
  for (std::size_t changes = 1 + rng() % 8; changes > 0 && file.size() > 4; --changes) {
    const auto at = static_cast<std::ptrdiff_t>(rng() % file.size());
    const auto length = static_cast<std::ptrdiff_t>(rng() % 16);
    const auto end = std::min<std::ptrdiff_t>(at + length, static_cast<std::ptrdiff_t>(file.size()));
    switch (rng() % 8) {
      case 0: file.erase(file.begin() + at, file.begin() + end); break;
      case 1: {
        const Bytes piece(file.begin() + at, file.begin() + end);
        file.insert(file.begin() + at, piece.begin(), piece.end());
        break;
      }
      case 2:
        if (rng() % 4 == 0) file.resize(static_cast<std::size_t>(at));
        break;
      case 3: file[static_cast<std::size_t>(at)] = 0xff; break;
      default: file[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(rng()); break;
    }
  }
  return file;
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> all;
  test::JpegShape shape;
  shape.width = 37;
  shape.height = 29;
  all.push_back(test::write_jpeg(shape));
  shape.h[0] = shape.v[0] = 2;
  shape.restart_rows = 1;
  all.push_back(test::write_jpeg(shape));
  shape.progressive = true;
  all.push_back(test::write_jpeg(shape));
  shape.arithmetic = true;
  all.push_back(test::write_jpeg(shape));
  shape.components = 4;
  shape.h[3] = shape.v[3] = 2;
  shape.arithmetic = shape.progressive = false;
  all.push_back(test::write_jpeg(shape));
  all.push_back(test::write_png(33, 21, 2, 8, false, 1).file);
  all.push_back(test::write_png(33, 21, 3, 4, true, 2).file);
  all.push_back(test::write_png(33, 21, 6, 16, true, 3).file);
  // Of the other formats, those from which fuzzing starts.
  std::vector<std::filesystem::path> kept;
  for (const auto& entry : std::filesystem::directory_iterator(FEEDRING_SOURCE_DIR "/tests/fuzz/corpus/decode")) {
    if (entry.path().extension() != ".jpg" && entry.path().extension() != ".png") kept.push_back(entry.path());
  }
  std::sort(kept.begin(), kept.end());
  for (const auto& file : kept) all.push_back(test::read_file(file));
  return all;
}

TEST(DecodeRobust, RandomDamageNeverCrashes) {
  const auto files = seeds();
  std::mt19937 rng(2);
  Decoder decoder;
  int decoded = 0;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Bytes bytes = mutated(files[rng() % files.size()], rng);
    ImageInfo info;
    RgbView view;
    // A small limit: damage to the height field of a header alone should not make the test slow.
    const bool fine =
        !decoder.probe(bytes, 100'000, info) && !decoder.decode(bytes, info, test::random_box(rng, info.size), view);
    ++(fine ? decoded : refused);
  }
  EXPECT_GT(decoded, 500);
  EXPECT_GT(refused, 5'000);
}

TEST(DecodeRobust, RefusedFilesLeaveNoMemoryBehind) {
  std::vector<Bytes> bad;
  std::mt19937 rng(3);
  for (const Bytes& file : seeds()) {
    for (const std::size_t eighths : {1U, 3U, 5U, 7U})
      bad.emplace_back(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(file.size() * eighths / 8));
    for (int i = 0; i < 12; ++i) bad.push_back(mutated(file, rng));
  }
  Decoder decoder;
  auto decode_all = [&](int times) {
    for (int i = 0; i < times; ++i) {
      for (const Bytes& bytes : bad) {
        ImageInfo info;
        RgbView view;
        if (decoder.probe(bytes, 100'000, info)) continue;
        (void)decoder.decode(bytes, info, {0, 0, info.size.width, info.size.height}, view);
      }
    }
  };
  decode_all(20);
  const std::int64_t before = test::resident_bytes();
  decode_all(static_cast<int>(100'000 / bad.size()));
  EXPECT_LT(test::resident_bytes() - before, (2 << 20) + test::kMemoryToSpare);
}

TEST(DecodeRobust, DecodersComeAndGoWithoutLeaving) {
  test::JpegShape shape;
  shape.width = shape.height = 64;
  shape.progressive = true;
  const Bytes bytes = test::write_jpeg(shape);
  auto live_once = [&] {
    Decoder decoder;
    Picture picture;
    ASSERT_FALSE(test::decode_whole(decoder, bytes, picture));
  };
  for (int i = 0; i < 50; ++i) live_once();
  const std::int64_t before = test::resident_bytes();
  for (int i = 0; i < 2'000; ++i) live_once();
  EXPECT_LT(test::resident_bytes() - before, (2 << 20) + test::kMemoryToSpare);
}

std::int64_t faults_of_this_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

TEST(DecodeRobust, AWarmDecoderTakesNoPageFaults) {
  if (test::kUnderSanitizer) GTEST_SKIP() << "a sanitizer's own memory faults";
  std::vector<Bytes> files;
  test::JpegShape shape;
  for (int i = 0; i < 8; ++i) {
    shape.width = 300 + 20 * i;
    shape.height = 420 - 20 * i;
    shape.progressive = i % 2 == 0;
    files.push_back(test::write_jpeg(shape));
    files.push_back(test::write_png(300, 200, 2, 8, i % 2 == 0, static_cast<std::uint32_t>(i)).file);
  }
  Decoder decoder;
  std::mt19937 rng(4);
  auto round = [&] {
    for (const Bytes& bytes : files) {
      ImageInfo info;
      RgbView view;
      ASSERT_FALSE(decoder.probe(bytes, test::kMaxPixels, info));
      ASSERT_FALSE(decoder.decode(bytes, info, test::random_box(rng, info.size), view));
      ASSERT_FALSE(decoder.decode(bytes, info, {0, 0, info.size.width, info.size.height}, view));
    }
  };
  for (int i = 0; i < 3; ++i) round();
  const std::int64_t before = faults_of_this_thread();
  for (int i = 0; i < 20; ++i) round();
  EXPECT_LE(faults_of_this_thread() - before, 20);
}

TEST(DecodeRobust, AGiantPictureDoesNotStayInMemory) {
  if (test::kUnderSanitizer) GTEST_SKIP() << "a sanitizer keeps freed memory";
  test::JpegShape shape;
  shape.width = shape.height = 40;
  const Bytes small = test::write_jpeg(shape);
  shape.width = shape.height = 4'000;
  const Bytes giant = test::write_jpeg(shape);
  Decoder decoder;
  Picture picture;
  auto decode_small = [&](unsigned times) {
    RgbView view;
    for (unsigned i = 0; i < times; ++i) {
      ASSERT_FALSE(decoder.decode(small, {Format::kJpeg, {40, 40}}, {0, 0, 40, 40}, view));
    }
  };
  decode_small(10);
  const std::int64_t before = test::resident_bytes();
  RgbView view;
  ASSERT_FALSE(decoder.decode(giant, {Format::kJpeg, {4'000, 4'000}}, {0, 0, 4'000, 4'000}, view));
  ASSERT_GT(test::resident_bytes() - before, 40 << 20);
  decode_small(2 * Arena::kWindow);
  EXPECT_LT(test::resident_bytes() - before, 4 << 20);
}

}  // namespace
}  // namespace feedring
