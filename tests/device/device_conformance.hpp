// SPDX-License-Identifier: Apache-2.0
// What every Device must keep, whatever it drives. Instantiate with a way to make one; a kind that this machine does
// not have is skipped by name.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <feedring/device.hpp>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

namespace feedring::test {

struct MakeDevice {
  std::string name;  ///< in the names of its tests
  std::function<std::shared_ptr<Device>()> make;
  std::function<std::string()> why_not = [] { return std::string(); };  ///< empty: it can be made here
  friend std::ostream& operator<<(std::ostream& out, const MakeDevice& maker) { return out << maker.name; }
};

inline constexpr std::chrono::seconds kLong{20};

inline bool soon(const std::function<bool()>& condition) {
  const auto late = std::chrono::steady_clock::now() + kLong;
  while (!condition() && std::chrono::steady_clock::now() < late) std::this_thread::yield();
  return condition();
}

/// Whole pages, as a ring's mapping is.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(memory_, bytes_); }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  void fill(unsigned value) const {
    for (std::size_t i = 0; i < bytes_; ++i) data()[i] = static_cast<std::byte>(value + i * 7 + (i >> 8));
  }
  /// First byte that fill(value) would have written otherwise; size() where all are right.
  [[nodiscard]] static std::size_t wrong(const std::byte* bytes, std::size_t count, unsigned value) {
    for (std::size_t i = 0; i < count; ++i)
      if (bytes[i] != static_cast<std::byte>(value + i * 7 + (i >> 8))) return i;
    return count;
  }

 private:
  std::size_t bytes_;
  void* memory_;
};

class DeviceConformance : public testing::TestWithParam<MakeDevice> {
 protected:
  static constexpr std::size_t kBytes = 3 * 4096;

  void SetUp() override {
    if (const std::string why = GetParam().why_not(); !why.empty()) GTEST_SKIP() << why;
    device = GetParam().make();
  }
  [[nodiscard]] static std::shared_ptr<Device> another() { return GetParam().make(); }
  static void copy(Device& on, std::byte* to, const std::byte* from, std::size_t bytes) {
    const CopyPiece piece{to, from, bytes};
    on.copy({&piece, 1});
  }
  /// What lies in memory of the device, read through it once everything submitted is done.
  static std::vector<std::byte> read(Device& on, const std::byte* from, std::size_t bytes) {
    std::vector<std::byte> here(bytes);
    copy(on, here.data(), from, bytes);
    EXPECT_TRUE(on.record()->wait(kLong));
    return here;
  }

  std::shared_ptr<Device> device;
};

}  // namespace feedring::test
