// SPDX-License-Identifier: Apache-2.0
// One episode with its pixels, outside of a producer, against the pictures that the files were made of.
#include "producers/pool/episode_pictures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <feedring/error.hpp>
#include <string>
#include <vector>

#include "producers/dataset/scan.hpp"
#include "tests/support/png_writer.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kSide = 5, kEach = 4;

class OneEpisode : public testing::Test {
 protected:
  OneEpisode() {
    for (std::uint32_t sample = 0; sample < 3 * kEach; ++sample) {
      test::PngSample png = test::write_png(kSide, kSide, 2, 8, false, sample);
      files_.text(name_of(sample), std::string(png.file.begin(), png.file.end()));
      pictures_.push_back(std::move(png.picture));
    }
    spec_ = config_for_folder(files_.root(), kSide, Cache::kDecoded).feeds[0];  // a chain that draws nothing
    spec_.episodes.emplace();
    spec_.episodes->ways = {2, 2};
    spec_.episodes->shots = {1, 1};
    spec_.episodes->queries = {2, 2};
    spec_.episodes->tasks_per_epoch = 5;
  }
  static std::string name_of(std::uint32_t sample) {
    return std::string(1, static_cast<char>('a' + sample / kEach)) + '/' + std::to_string(sample % kEach) + ".png";
  }
  [[nodiscard]] std::unique_ptr<EpisodePictures> open() const {
    const UniqueFd index = build_index(scan_data(files_.root()));
    const UniqueFd pool = create_memfd("pool", sizeof(contract::PoolHeader<std::atomic>));
    return std::make_unique<EpisodePictures>(0, spec_, index.get(), Mapping(pool.get(), Mapping::Access::kReadOnly));
  }
  template <class T>
  static T value(const EpisodePictures& of, const std::vector<std::byte>& made, const char* tensor, std::uint64_t at) {
    T value;
    std::memcpy(&value, made.data() + find_tensor(of.shape(), tensor)->offset + at * sizeof value, sizeof value);
    return value;
  }

  DatasetFiles files_;
  std::vector<test::Picture> pictures_;
  FeedSpec spec_;
};

TEST_F(OneEpisode, HasThePixelsOfItsSamples) {
  const auto pictures = open();
  for (std::uint64_t ordinal = 0; ordinal < 5; ++ordinal) {
    const std::vector<std::byte> made = pictures->make({0, 1, ordinal});
    EXPECT_EQ(value<std::int64_t>(*pictures, made, "ordinal", 0), static_cast<std::int64_t>(ordinal));
    for (std::uint64_t part = 0; part < 6; ++part) {
      const bool query = part >= 2;
      const auto sample = static_cast<std::uint64_t>(value<std::int64_t>(*pictures, made, "sample_ids", part));
      const contract::TensorEntry& images = *find_tensor(pictures->shape(), query ? "query_images" : "support_images");
      const std::byte* pixels = made.data() + images.offset + (query ? part - 2 : part) * 3 * kSide * kSide;
      EXPECT_EQ(std::memcmp(pixels, pictures_.at(sample).rgb.data(), 3 * kSide * kSide), 0) << ordinal << ' ' << part;
      EXPECT_EQ(value<std::uint8_t>(*pictures, made, query ? "query_mask" : "support_mask", query ? part - 2 : part),
                1);
    }
  }
  EXPECT_EQ(pictures->make({0, 1, 3}), pictures->make({0, 1, 3}));
  EXPECT_NE(pictures->make({0, 1, 3}), pictures->make({1, 1, 3})) << "of another seed";
}

TEST_F(OneEpisode, IsFinishedWhoeverFinishesBatches) {
  spec_.dtype = Dtype::kFloat32;
  spec_.layout = Layout::kNchw;
  const std::vector<std::byte> expected = open()->make({0, 0, 2});
  spec_.finish = FinishBy::kDevice;
  const auto pictures = open();
  EXPECT_EQ(pictures->make({0, 0, 2}), expected);
  const auto sample = static_cast<std::uint64_t>(value<std::int64_t>(*pictures, expected, "sample_ids", 0));
  for (std::uint64_t pixel = 0; pixel < kSide * kSide; ++pixel) {
    for (std::uint64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(value<float>(*pictures, expected, "support_images", c * kSide * kSide + pixel),
                static_cast<float>(pictures_.at(sample).rgb.at(3 * pixel + c)) * (1.0F / 255));
    }
  }
}

TEST_F(OneEpisode, TellsWhichFileFailed) {
  for (std::uint32_t sample = 0; sample < 3 * kEach; ++sample)
    if (sample % kEach == 2) files_.text(name_of(sample), "no picture");
  const auto why = [&]() -> std::string {
    const auto pictures = open();
    try {
      for (std::uint64_t ordinal = 0; ordinal < 5; ++ordinal) (void)pictures->make({0, 0, ordinal});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(why(), testing::ContainsRegex("of 6 images of episode [0-4] of epoch 0 failed, the first: [abc]/2.png "
                                            "\\(sample [0-9]+, 10 bytes\\): "));
  spec_.on_error = OnError::kReplace;
  EXPECT_EQ(why(), "");
  spec_.on_error = OnError::kZero;
  EXPECT_EQ(why(), "");
}

}  // namespace
}  // namespace feedring
