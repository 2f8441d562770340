// SPDX-License-Identifier: Apache-2.0
// A file of gigabytes as text, without reading it first. Internal to this folder.
#pragma once

#include <filesystem>
#include <string_view>

namespace feedring::pack {

class MappedFile {
 public:
  /// Throws Error(kData). The file must not become shorter meanwhile.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

}  // namespace feedring::pack
