// SPDX-License-Identifier: Apache-2.0
// A manifest's text, line by line, and the sentences about its lines. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace feedring::dataset {

class TextLines {
 public:
  /// Opens the file and skips a byte-order mark. Throws Error(kData) where it cannot be read, or is no text.
  explicit TextLines(const std::filesystem::path& file);
  ~TextLines();
  TextLines(const TextLines&) = delete;
  TextLines& operator=(const TextLines&) = delete;

  /// The next line without its "\n", valid until the next call. False at the end of the file. Throws Error(kData).
  bool next(std::string_view& line);
  /// The next call of next() gives the same line again.
  void again() noexcept { again_ = true; }

  /// Throws Error(kData): file, line, `what`.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  void start();

  std::string name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  char* buffer_ = nullptr;  // getline's
  std::size_t capacity_ = 0;
  std::size_t length_ = 0;  // of the line that it holds
  std::uint64_t line_ = 0;
  bool again_ = false;
};

}  // namespace feedring::dataset
