// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/cache_size.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/fake_root.hpp"

namespace feedring {
namespace {

class CacheSize : public testing::Test {
 protected:
  void cache(int number, const std::string& level, const std::string& size) {
    const std::string folder = "sys/devices/system/cpu/cpu0/cache/index" + std::to_string(number);
    root_.write(folder + "/level", level + '\n');
    root_.write(folder + "/size", size + '\n');
  }
  [[nodiscard]] std::uint64_t bytes() const { return outermost_cache_bytes(root_.path()); }

  FakeRoot root_;
};

TEST_F(CacheSize, IsThatOfTheOutermostOne) {
  EXPECT_EQ(bytes(), 0U) << "nothing is said";
  cache(0, "1", "32K");
  cache(1, "1", "48K");
  cache(2, "2", "512K");
  EXPECT_EQ(bytes(), 512U << 10);
  cache(3, "3", "32768K");
  EXPECT_EQ(bytes(), 32U << 20);
}

TEST_F(CacheSize, IsUnknownWhereTheKernelWritesSomethingElse) {
  for (const char* size : {"", "K", "32768", "32M", "-5K", "18014398509481984K", "32768K "}) {
    cache(0, "3", size);
    EXPECT_EQ(bytes(), 0U) << size;
  }
}

}  // namespace
}  // namespace feedring
