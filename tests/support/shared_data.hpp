// SPDX-License-Identifier: Apache-2.0
// The real files that some tests read. They are no part of the repository; a test skips, with a reason, without them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace feedring::test {

/// The folder of shared data: $FEEDRING_SHARED, or ../shared beside the repository; nullopt where there is none.
inline std::optional<std::filesystem::path> shared_dir() {
  const char* named = std::getenv("FEEDRING_SHARED");
  std::filesystem::path dir = named != nullptr ? std::filesystem::path(named)
                                               : std::filesystem::path(FEEDRING_SOURCE_DIR).parent_path() / "shared";
  if (!std::filesystem::is_directory(dir / "data")) return std::nullopt;
  return dir;
}

/// All bytes of a file; empty when it cannot be read.
inline std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace feedring::test

/// Defines `const std::filesystem::path data`, the data folder, or skips the test.
#define FEEDRING_NEEDS_SHARED_DATA(data)                                                                       \
  const auto feedring_shared_dir = ::feedring::test::shared_dir();                                             \
  if (!feedring_shared_dir) GTEST_SKIP() << "no shared data (FEEDRING_SHARED or ../shared beside the source)"; \
  const std::filesystem::path data = *feedring_shared_dir / "data"
