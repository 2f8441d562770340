// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own that goes away with it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace feedring {

class DatasetFiles {
 public:
  DatasetFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "feedring-test-XXXXXX").native();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
    root_ = pattern;
  }
  ~DatasetFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  DatasetFiles(const DatasetFiles&) = delete;
  DatasetFiles& operator=(const DatasetFiles&) = delete;

  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }

  /// A file of `bytes` bytes, with the folders above it.
  void file(const std::string& path, std::size_t bytes = 1) const { text(path, std::string(bytes, 'x')); }
  void text(const std::string& path, std::string_view content) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << content;
    ASSERT_EQ(std::filesystem::file_size(root_ / path), content.size()) << path;
  }
  void folder(const std::string& path) const { std::filesystem::create_directories(root_ / path); }
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::create_symlink(target, root_ / path);
  }

 private:
  std::filesystem::path root_;
};

}  // namespace feedring
