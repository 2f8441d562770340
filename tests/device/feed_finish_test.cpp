// SPDX-License-Identifier: Apache-2.0
// Feeds whose images are finished by the device: with finish = "device" the rank gets, to the bit, what it gets with
// finish = "producer", and a quarter of the bytes cross the bus.
#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tests/device/device_feed.hpp"

namespace feedring::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What value v of channel c becomes: 1000 (c + 1) + v, as a number of the pool's answer.
nlohmann::json finish(const char* dtype, const char* layout) {
  nlohmann::json bits = nlohmann::json::array();
  for (std::uint32_t i = 0; i < 768; ++i) bits.push_back(1000 * (i / 256 + 1) + i % 256);
  return {{"dtype", dtype}, {"layout", layout}, {"bits", bits}, {"images", {{{"name", "images"}}}}};
}

/// The bytes of a tensor, wherever it lies.
std::vector<std::byte> bytes_of(const FarSide& program, const TensorView& view) {
  std::vector<std::byte> bytes(view.bytes);
  const CopyPiece piece{bytes.data(), static_cast<const std::byte*>(view.data), view.bytes};
  program.device().copy({&piece, 1});
  EXPECT_TRUE(program.device().record()->wait(kLong));
  return bytes;
}

TEST_P(DeviceFeed, FinishesItsImagesAsThePoolSays) {
  for (const bool planar : {true, false}) {
    TestPool pool;
    pool.reply["finish"] = finish("float32", planar ? "NCHW" : "NHWC");
    pool.start();
    const FarSide program(GetParam().make());
    Feed feed = Feed::attach(options(pool, GetParam().make(), program));
    for (std::uint64_t step = 0; step < 12; ++step) {
      const auto batch = feed.next();
      if (!batch) continue;
      const TensorView images = batch->images();
      EXPECT_EQ(images.dtype, Dtype::kFloat32);
      EXPECT_THAT(images.shape(), ElementsAre(4, 3, 2, 2));
      EXPECT_EQ(images.bytes, 4U * 12 * 4);
      if (planar)
        EXPECT_THAT(images.strides(), ElementsAre(12, 4, 2, 1));
      else
        EXPECT_THAT(images.strides(), ElementsAre(12, 1, 6, 3));
      const std::vector<std::byte> bytes = bytes_of(program, images);
      for (std::uint32_t row = 0; row < batch->valid_rows(); ++row) {
        const std::uint32_t value = pattern(pool.setting.seed, batch->epoch(), batch->first_ordinal() + row);
        for (std::size_t i = 0; i < 12; ++i) {
          std::uint32_t seen = 0;
          std::memcpy(&seen, bytes.data() + (row * 12 + i) * 4, 4);
          const std::uint32_t channel = planar ? static_cast<std::uint32_t>(i / 4) : i % 3;
          ASSERT_EQ(seen, 1000 * (channel + 1) + value) << "row " << row << ", element " << i;
        }
      }
    }
  }
}

// As a producer that finishes leaves zeros, and not what Normalize makes of black.
TEST_P(DeviceFeed, LeavesWhatFailedAndBecameZerosAtZero) {
  PoolSetting setting;
  setting.on_error = "zero";
  setting.error_budget = 1;
  TestPool pool(setting);
  pool.behaviour.bad = {1, 2, 7, 22};
  pool.reply["finish"] = finish("float32", "NCHW");
  pool.start();
  const FarSide program(GetParam().make());
  Feed feed = Feed::attach(options(pool, GetParam().make(), program));
  std::uint32_t zeros = 0;
  for (std::uint64_t step = 0; step < 6; ++step) {
    const auto batch = feed.next();
    ASSERT_TRUE(batch);
    const std::vector<std::byte> bytes = bytes_of(program, batch->images());
    for (std::uint32_t row = 0; row < batch->valid_rows(); ++row) {
      const bool bad = pool.behaviour.bad.contains(batch->first_ordinal() + row);
      const std::uint32_t value = pattern(pool.setting.seed, batch->epoch(), batch->first_ordinal() + row);
      for (std::size_t i = 0; i < 12; ++i) {
        std::uint32_t seen = 0;
        std::memcpy(&seen, bytes.data() + (row * 12 + i) * 4, 4);
        ASSERT_EQ(seen, bad ? 0 : 1000 * (i / 4 + 1) + value) << "row " << row << ", element " << i;
      }
      zeros += bad ? 1 : 0;
    }
  }
  EXPECT_EQ(zeros, 4U);
}

// A device that reads the slots where they lie has no place to finish in: the host's own memory serves.
TEST(FeedFinish, NeedsNoDeviceOfItsOwn) {
  TestPool pool;
  pool.reply["finish"] = finish("float32", "NCHW");
  pool.start();
  Feed feed = Feed::attach(pool.options());
  const auto batch = feed.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->images().device, DeviceTag{});
  const auto values = batch->images().as<std::uint32_t>();
  ASSERT_EQ(values.size(), 48U);
  EXPECT_EQ(values[0], 1000U + pattern(pool.setting.seed, 0, 0));
  EXPECT_EQ(values[11], 3000U + pattern(pool.setting.seed, 0, 0));
}

TEST(FeedFinish, ThatMakesNoSenseIsRefused) {
  const auto why = [](const nlohmann::json& odd) -> std::string {
    TestPool pool;
    pool.reply["finish"] = odd;
    try {
      (void)Feed::attach(pool.options());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(why(finish("float16", "NHWC")), "");
  EXPECT_THAT(why(finish("int64", "NHWC")), HasSubstr("finish int64 NHWC"));
  EXPECT_THAT(why(finish("float32", "CHWN")), HasSubstr("finish float32 CHWN"));
  nlohmann::json odd = finish("float32", "NCHW");
  odd["bits"].erase(0);
  EXPECT_THAT(why(odd), HasSubstr("768"));
  odd["bits"].push_back(-1);
  EXPECT_THAT(why(odd), HasSubstr("no 32 bit number"));
  for (const auto& [images, what] : std::vector<std::pair<nlohmann::json, const char*>>{
           {nlohmann::json::array(), "a finish of no images"},
           {{{{"name", "labels"}}}, "no 8 bit interleaved RGB (labels)"},
           {{{{"name", "none"}}}, "no 8 bit interleaved RGB (none)"},
           {{{{"name", "images"}, {"mask", "labels"}}}, "which of them are zeros (images)"},
           {{{{"name", "images"}, {"mask", "none"}}}, "which of them are zeros (images)"},
           {3, "must come from one build"},
           {{{{"name", 3}}}, "must come from one build"}}) {
    odd = finish("float32", "NCHW");
    odd["images"] = images;
    EXPECT_THAT(why(odd), HasSubstr(what)) << images;
  }
  EXPECT_THAT(why(7), HasSubstr("must come from one build"));
}

TEST(FeedFinish, ThatTheRuntimeIsTooOldForIsSaidAtAttach) {
  const FakeCudart fake(FakeCudart::Settings{{"VERSION", "11020"}});
  TestPool pool;
  pool.reply["finish"] = finish("float32", "NCHW");
  FeedOptions options = pool.options();
  options.device = cuda("cuda:0", FakeCudart::options());
  try {
    (void)Feed::attach(options);
    FAIL() << "attached";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("use 11.3 or later, or finish = \"producer\""));
  }
}

}  // namespace
}  // namespace feedring::test
