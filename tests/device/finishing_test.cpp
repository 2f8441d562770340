// SPDX-License-Identifier: Apache-2.0
// Which tensors of a batch are finished, where they then lie, and what stays at zero: episodes, on every device.
#include "consumers/finishing.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <feedring/error.hpp>
#include <vector>

#include "consumers/batch_content.hpp"
#include "runtime/ring_segment.hpp"
#include "tests/device/kinds.hpp"

namespace feedring::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kHeight = 2, kWidth = 3, kPixels = 6, kRows = 2;

struct Images {
  const char* name;
  const char* mask;
  std::uint64_t count;  ///< of a row
};
const std::vector<Images> kEpisode = {{"support_images", "support_mask", 3}, {"query_images", "query_mask", 5}};

/// Of a slot with these, and other tensors in between.
contract::RingShape shape_of(Dtype dtype, Layout layout) {
  std::vector<std::uint64_t> strides;
  if (layout == Layout::kNhwc) strides = {3 * kPixels, 1, 3 * kWidth, 3};
  std::vector<TensorSpec> tensors = {{"ordinal", Dtype::kInt64, {}, {}}};
  for (const Images& each : kEpisode) {
    tensors.push_back({each.name, dtype, {each.count, 3, kHeight, kWidth}, strides});
    tensors.push_back({each.mask, Dtype::kUint8, {each.count}, {}});
  }
  tensors.push_back({"status", Dtype::kUint8, {8}, {}});
  return lay_out_ring(1, 1, kRows, tensors, 8);
}

// Value v of channel c becomes 1000 (c + 1) + v.
FinishInfo finish_of(Dtype dtype, Layout layout) {
  FinishInfo info;
  info.table.dtype = dtype;
  info.table.layout = layout;
  for (std::uint32_t i = 0; i < 768; ++i) info.table.bits[i] = 1000 * (i / 256 + 1) + i % 256;
  for (const Images& each : kEpisode) info.images.push_back({each.name, each.mask});
  return info;
}

class Finished : public testing::TestWithParam<MakeDevice> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().why_not(); !why.empty()) GTEST_SKIP() << why;
  }
};

// A payload whose image number n, through all rows of a tensor, has the values 10 n + 3 p + c at pixel p; every third
// is masked, with other bytes in it.
std::vector<std::byte> payload_of(const contract::RingShape& shape) {
  std::vector<std::byte> payload(used_bytes(shape));
  for (const Images& each : kEpisode) {
    const contract::TensorEntry& images = *find_tensor(shape, each.name);
    const contract::TensorEntry& mask = *find_tensor(shape, each.mask);
    for (std::uint64_t n = 0; n < kRows * each.count; ++n) {
      payload[mask.offset + n] = static_cast<std::byte>(n % 3 != 1);
      for (std::uint64_t i = 0; i < 3 * kPixels; ++i)
        payload[images.offset + n * 3 * kPixels + i] = static_cast<std::byte>(10 * n + i);
    }
  }
  return payload;
}

TEST_P(Finished, EveryTensorOfAnEpisodeIsFinishedAndItsPaddingIsZeros) {
  for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
    const contract::RingShape shape = shape_of(Dtype::kUint8, Layout::kNhwc);
    const Finishing finishing("feed", shape, finish_of(Dtype::kFloat32, layout));
    const std::vector<std::byte> payload = payload_of(shape);

    const auto device = GetParam().make();
    const auto buffer = device->allocate(finishing.buffer_bytes());
    const auto constants = device->allocate(finishing.constants().size());
    std::vector<std::byte> dirty(finishing.buffer_bytes(), std::byte{0xEE});
    const CopyPiece there[] = {{buffer.get(), dirty.data(), dirty.size()},
                               {buffer.get(), payload.data(), payload.size()},
                               {constants.get(), finishing.constants().data(), finishing.constants().size()}};
    for (const CopyPiece& piece : there) device->copy({&piece, 1});
    finishing.prepare(*device);
    finishing.run(*device, payload.data(), buffer.get(), constants.get());
    std::vector<std::byte> back(finishing.buffer_bytes());
    const CopyPiece here{back.data(), buffer.get(), back.size()};
    device->copy({&here, 1});
    ASSERT_TRUE(device->record()->wait(kLong));

    ASSERT_EQ(finishing.finished().size(), kEpisode.size());
    for (std::size_t t = 0; t < finishing.finished().size(); ++t) {
      const contract::TensorEntry& tensor = finishing.finished()[t];
      const std::uint64_t count = kEpisode[t].count;
      EXPECT_STREQ(tensor.name, kEpisode[t].name);
      EXPECT_THAT(std::vector(tensor.shape, tensor.shape + 5), ElementsAre(kRows, count, 3, kHeight, kWidth));
      if (layout == Layout::kNchw) {
        EXPECT_THAT(std::vector(tensor.strides, tensor.strides + 5), ElementsAre(18 * count, 18, 6, 3, 1));
      } else {
        EXPECT_THAT(std::vector(tensor.strides, tensor.strides + 5), ElementsAre(18 * count, 18, 1, 9, 3));
      }
      for (std::uint64_t n = 0; n < kRows * count; ++n) {
        for (std::uint32_t p = 0; p < kPixels; ++p) {
          for (std::uint32_t c = 0; c < 3; ++c) {
            std::uint32_t seen = 0;
            const std::uint64_t at = n * 18 + (layout == Layout::kNchw ? c * kPixels + p : 3 * p + c);
            std::memcpy(&seen, back.data() + tensor.offset + 4 * at, 4);
            const std::uint32_t value = (10 * static_cast<std::uint32_t>(n) + 3 * p + c) % 256;
            ASSERT_EQ(seen, n % 3 == 1 ? 0 : 1000 * (c + 1) + value) << tensor.name << ' ' << n << ' ' << p;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Host, Finished,
                         testing::Values(host("at_once", {.copies = true}),
                                         host_that_copies("late", std::chrono::microseconds(300))));
INSTANTIATE_TEST_SUITE_P(FakeCuda, Finished, testing::Values(fake_cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, Finished, testing::Values(real_cuda()));

TEST(Finishing, RefusesImagesThatDoNotLieAsTheKernelReadsThem) {
  const FinishInfo info = finish_of(Dtype::kFloat16, Layout::kNchw);
  const auto why = [&](Dtype dtype, Layout layout) -> std::string {
    try {
      const Finishing finishing("feed", shape_of(dtype, layout), info);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(why(Dtype::kUint8, Layout::kNhwc), "");
  EXPECT_THAT(why(Dtype::kUint8, Layout::kNchw), HasSubstr("no 8 bit interleaved RGB (support_images)"));
  EXPECT_THAT(why(Dtype::kFloat32, Layout::kNhwc), HasSubstr("no 8 bit interleaved RGB (support_images)"));
}

}  // namespace
}  // namespace feedring::test
