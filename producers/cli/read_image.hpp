// SPDX-License-Identifier: Apache-2.0
// An image file's bytes, for commands that look at files one by one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "producers/dataset/scan.hpp"
#include "producers/decode/image.hpp"
#include "runtime/memfd.hpp"

namespace feedring::cli {

/// A file in memory. Reused from file to file, so that a run over many allocates for the largest only.
class FileBytes {
 public:
  /// Reads a regular file of at most 2 GiB. A fault tells what is wrong with it, without its name.
  Fault read(const std::string& path);
  /// Reads a sample, of a file or of an archive, which stays open for the next.
  Fault read(const Scan& scan, const Sample& sample);
  /// With kSlack readable bytes behind; valid until the next read().
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return {memory_.data(), size_}; }

 private:
  std::vector<std::uint8_t> memory_;
  std::string archive_;  // what is open
  UniqueFd archive_file_;
  std::size_t size_ = 0;
};

}  // namespace feedring::cli
