// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/tar_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <feedring/error.hpp>
#include <filesystem>
#include <thread>

#include "dataset_files.hpp"

namespace feedring {
namespace {

using pack::TarWriter;

// Two imports into one file: whoever has opened TARGET.part and then waits a moment may lock what is TARGET by then.
TEST(TarWriter, LeavesAloneWhatHasItsNameAlready) {
  const DatasetFiles files;
  const auto target = files.root() / "pack.tar";
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over.load(std::memory_order_relaxed)) {
      try {
        TarWriter second(target);
        second.cut(0);
      } catch (const Error&) {
        // the first one has it
      }
    }
  });
  const std::array<std::uint8_t, 3> picture{1, 2, 3};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    try {
      TarWriter first(target);
      first.cut(0);
      first.add("a", picture);
      first.finish();
    } catch (const Error&) {
      continue;  // the other one has it
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    EXPECT_EQ(std::filesystem::file_size(target), 10240U) << "a tar is a whole number of records";
    std::filesystem::remove(target);
  }
  over.store(true, std::memory_order_relaxed);
  other.join();
}

TEST(TarWriter, LeavesNothingOfATryThatWroteNothing) {
  const DatasetFiles files;
  { const TarWriter writer(files.root() / "pack.tar"); }
  EXPECT_TRUE(std::filesystem::is_empty(files.root()));
}

}  // namespace
}  // namespace feedring
