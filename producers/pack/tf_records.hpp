// SPDX-License-Identifier: Apache-2.0
// TensorFlow's file of records: each has its length, a checksum of that, its bytes, a checksum of these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/archive_file.hpp"

namespace feedring::pack {

class TfRecords {
 public:
  /// Goes from length to length through the file. Throws Error(kData) for one that does not end where it should.
  explicit TfRecords(const std::filesystem::path& file);

  [[nodiscard]] std::uint64_t size() const noexcept { return records_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return file_.bytes(); }
  /// Reads a record. Throws Error(kData) where its checksum is another.
  void read(std::uint64_t number, std::string& record) const;
  /// Throws Error(kData) about a record.
  [[noreturn]] void fail(std::uint64_t number, std::string_view what) const;

 private:
  struct Record {
    std::uint64_t begin, bytes;
  };
  dataset::ArchiveFile file_;
  std::vector<Record> records_;
};

}  // namespace feedring::pack
