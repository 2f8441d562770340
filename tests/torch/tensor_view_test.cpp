// SPDX-License-Identifier: Apache-2.0
// LibTorch tensors over a slot: no copy, the right strides, and the slot is kept exactly as long as one of them lives.
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <feedring/feed.hpp>
#include <feedring/torch.hpp>

#include "tests/device/fake_cudart.hpp"
#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using contract::Phase;
using test::error_of;
using test::pattern;
using test::TestPool;

TEST(TensorView, IsTheSlotItselfWithChannelsLastStrides) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  const Batch batch = *feed.next();
  const at::Tensor images = to_tensor(batch, "images");
  EXPECT_EQ(images.data_ptr(), batch.images().data);
  EXPECT_EQ(images.scalar_type(), at::kByte);
  EXPECT_EQ(images.sizes(), at::IntArrayRef({4, 3, 2, 2}));
  EXPECT_TRUE(images.is_contiguous(at::MemoryFormat::ChannelsLast));
  for (std::int64_t row = 0; row < 4; ++row)
    EXPECT_TRUE(at::equal(images[row], at::full({3, 2, 2}, pattern(5, 0, static_cast<std::uint64_t>(row)), at::kByte)));
  const at::Tensor labels = to_tensor(batch, "labels");
  EXPECT_EQ(labels.scalar_type(), at::kLong);
  EXPECT_EQ(labels[3].item<std::int64_t>(), 3);
  EXPECT_EQ(error_of([&] { (void)to_tensor(batch, "pixels"); }).kind(), ErrorKind::kUsage);
}

TEST(TensorView, KeepsTheSlotUntilTheLastTensorIsGoneAlsoAViewOfAView) {
  TestPool pool;
  pool.start();
  at::Tensor part;
  {
    Feed feed = Feed::attach(pool.options());
    std::optional<Batch> batch = feed.next();
    at::Tensor images = to_tensor(*batch, "images");
    const at::Tensor labels = to_tensor(*batch, "labels");
    part = images.narrow(0, 1, 2);
    batch.reset();
    (void)feed.next();
  }
  EXPECT_EQ(pool.count(Phase::kLeased), 1U);
  EXPECT_EQ(part[0][0][0][0].item<std::uint8_t>(), pattern(5, 0, 1));
  part.reset();
  EXPECT_EQ(pool.count(Phase::kLeased), 0U);
}

// What a torch without CUDA can show: where the tensor says it lies, and for how long it keeps that memory. Its
// elements are not touched; that takes a GPU.
TEST(TensorView, OfACudaDeviceIsTheDevicesMemoryUntilTheLastTensorIsGone) {
  const test::FakeCudart fake;
  TestPool pool;
  pool.start();
  {
    FeedOptions options = pool.options();
    options.device = cuda("cuda:0", test::FakeCudart::options());
    Feed feed = Feed::attach(options);
    std::optional<Batch> batch = feed.next();
    at::Tensor images = to_tensor(*batch, "images");
    const void* const memory = batch->images().data;
    const std::weak_ptr<const void> lease = batch->lease();
    EXPECT_EQ(images.device(), at::Device(at::kCUDA, 0));
    EXPECT_EQ(images.data_ptr(), memory);
    EXPECT_EQ(images.scalar_type(), at::kByte);
    EXPECT_EQ(images.sizes(), at::IntArrayRef({4, 3, 2, 2}));
    EXPECT_TRUE(images.is_contiguous(at::MemoryFormat::ChannelsLast));
    at::Tensor labels = to_tensor(*batch, "labels");
    EXPECT_EQ(labels.device(), at::Device(at::kCUDA, 0));

    const auto comes_again = [&] {
      for (int i = 0; i < 8; ++i) {
        if (const auto later = feed.next(); later && later->images().data == memory) return true;
      }
      return false;
    };
    images.reset();
    batch.reset();
    EXPECT_FALSE(lease.expired()) << "another tensor of the batch keeps it";
    EXPECT_FALSE(comes_again()) << "nothing is copied over what a tensor shows";
    labels.reset();
    EXPECT_TRUE(lease.expired());
    EXPECT_TRUE(comes_again()) << "the memory serves another batch";
  }
  EXPECT_EQ(test::FakeCudart::count("memory now"), 0);
  EXPECT_EQ(test::FakeCudart::count("violations"), 0);
}

TEST(TensorView, KnowsEveryElementType) {
  EXPECT_EQ(scalar_type_of(Dtype::kUint8), at::kByte);
  EXPECT_EQ(scalar_type_of(Dtype::kInt64), at::kLong);
  EXPECT_EQ(scalar_type_of(Dtype::kFloat32), at::kFloat);
  EXPECT_EQ(scalar_type_of(Dtype::kFloat16), at::kHalf);
  EXPECT_EQ(scalar_type_of(Dtype::kBfloat16), at::kBFloat16);
}

}  // namespace
}  // namespace feedring
