// SPDX-License-Identifier: Apache-2.0
// Finishing a batch: on the CPU against values worked out by hand, the GPU's kernel (its source, compiled for the CPU)
// against that.
#include "consumers/finish_on_host.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

// What the kernel's source takes from CUDA, for one thread a block: then the barrier has nobody to wait for.
namespace {
struct Dim {
  unsigned x = 1, y = 1, z = 1;
};
thread_local Dim threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim, gridDim;
void __syncthreads() {}
}  // namespace
#define __global__
#define __device__
#define __shared__ static thread_local
#include "consumers/cuda/finish.cu"

namespace feedring {
namespace {

std::vector<std::uint32_t> numbers() {
  std::vector<std::uint32_t> table(768);
  std::mt19937 random(7);
  for (auto& entry : table) entry = static_cast<std::uint32_t>(random());
  return table;
}

FinishWork work_of(const std::vector<std::uint8_t>& from, std::vector<std::uint8_t>& to,
                   const std::vector<std::uint32_t>& table, std::uint64_t images, std::uint32_t element, bool planar) {
  to.assign(from.size() * element, 0xEE);
  FinishWork work;
  work.to = reinterpret_cast<std::byte*>(to.data());
  work.from = reinterpret_cast<const std::byte*>(from.data());
  work.table = reinterpret_cast<const std::byte*>(table.data());
  work.images = images;
  work.pixels = from.size() / 3 / images;
  work.element_bytes = element;
  work.planar = planar;
  return work;
}

TEST(FinishOnHost, LooksEveryValueUpForItsChannelAndPutsItWhereTheLayoutSays) {
  // Two images of two pixels; channel c of value v becomes 1000 (c + 1) + v.
  const std::vector<std::uint8_t> from{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<std::uint32_t> table(768);
  for (std::uint32_t i = 0; i < 768; ++i) table[i] = 1000 * (i / 256 + 1) + i % 256;
  std::vector<std::uint8_t> to;
  const auto words = [&] {
    std::vector<std::uint32_t> values(12);
    std::memcpy(values.data(), to.data(), 48);
    return values;
  };
  finish_on_host(work_of(from, to, table, 2, 4, true));
  EXPECT_EQ(words(),
            (std::vector<std::uint32_t>{1001, 1004, 2002, 2005, 3003, 3006, 1007, 1010, 2008, 2011, 3009, 3012}));
  finish_on_host(work_of(from, to, table, 2, 4, false));
  EXPECT_EQ(words(),
            (std::vector<std::uint32_t>{1001, 2002, 3003, 1004, 2005, 3006, 1007, 2008, 3009, 1010, 2011, 3012}));
  finish_on_host(work_of(from, to, table, 2, 2, true));
  const std::uint8_t low_bytes[] = {1001 % 256, 1001 / 256, 1004 % 256, 1004 / 256};
  EXPECT_EQ(std::memcmp(to.data(), low_bytes, 4), 0) << "of small types the low bits";
  finish_on_host(work_of(from, to, table, 2, 1, false));
  EXPECT_EQ(to[0], 1001 % 256);
  EXPECT_EQ(to[11], 3012 % 256);
}

TEST(FinishKernel, OfTheGpuDoesTheSame) {
  const std::vector<std::uint32_t> table = numbers();
  std::mt19937 random(8);
  for (const std::uint64_t images : {1U, 2U, 5U}) {
    for (const std::uint64_t pixels : {1U, 2U, 63U, 224U}) {
      std::vector<std::uint8_t> from(images * pixels * 3);
      for (auto& value : from) value = static_cast<std::uint8_t>(random());
      for (const std::uint32_t element : {1U, 2U, 4U}) {
        for (const bool planar : {false, true}) {
          std::vector<std::uint8_t> host, device;
          finish_on_host(work_of(from, host, table, images, element, planar));
          device.assign(host.size(), 0xEE);
          gridDim = {3, 2, 1};
          for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y) {
            for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
              const auto call = [&](auto kernel, auto* to) {
                kernel(from.data(), to, table.data(), pixels, images, planar ? 1U : 0U);
              };
              if (element == 1) call(feedring_finish_1, device.data());
              if (element == 2) call(feedring_finish_2, reinterpret_cast<unsigned short*>(device.data()));
              if (element == 4) call(feedring_finish_4, reinterpret_cast<unsigned*>(device.data()));
            }
          }
          ASSERT_EQ(device, host) << images << " images of " << pixels << " pixels, elements of " << element << ", "
                                  << planar;
        }
      }
    }
  }
}

}  // namespace
}  // namespace feedring
