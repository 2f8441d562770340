// SPDX-License-Identifier: Apache-2.0
// A file of any size in a zip, read at any place. Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>

#include "producers/dataset/archive_file.hpp"
#include "runtime/memfd.hpp"

namespace feedring::pack {

class Unpacked {
 public:
  /// Reads all of it once and compares its size and checksum. What is deflated goes to a file without a name in the
  /// folder `scratch`. `zip` stays there as long as this. Throws Error(kData), and Error(kMemory) for want of room.
  Unpacked(const dataset::ArchiveFile& zip, const dataset::Listed& member, const std::filesystem::path& scratch);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Throws Error(kData) where it is not there any more.
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const;

 private:
  const dataset::ArchiveFile& zip_;
  std::uint64_t begin_ = 0;  // in the zip, of what is stored
  std::uint64_t bytes_;
  UniqueFd scratch_;
};

}  // namespace feedring::pack
