// SPDX-License-Identifier: Apache-2.0
// An HDF5 file, read by a program of its own: a broken file can end only that. Internal to this folder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/memfd.hpp"

namespace feedring::pack {

struct Hdf5Dataset {
  enum class Kind : std::uint8_t { kFiles, kPixels, kOther };
  std::string name;  ///< with its groups
  Kind kind = Kind::kOther;
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> shape;  ///< of a row
  std::string superclass;
};

class Hdf5Reader {
 public:
  /// Starts `program` and takes its listing. Throws Error(kUsage) where there is no such program, Error(kData) for a
  /// file that it cannot read.
  Hdf5Reader(const std::filesystem::path& program, const std::filesystem::path& file);
  /// Ends it.
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  [[nodiscard]] const std::vector<Hdf5Dataset>& datasets() const noexcept { return datasets_; }
  /// Throws Error(kData), also where the program was killed, or says nothing for a minute.
  void read(std::uint64_t dataset, std::uint64_t row, std::string& bytes);
  [[noreturn]] void fail(std::string_view what) const;

 private:
  void start(const std::filesystem::path& program);
  void take(void* target, std::uint64_t bytes);
  void take_frame(std::string& bytes);
  void take_listing();
  [[noreturn]] void fail_as_it_ended();
  void end(int signal) noexcept;

  std::string file_;
  UniqueFd socket_;
  pid_t pid_ = -1;
  int status_ = 0;
  std::vector<Hdf5Dataset> datasets_;
};

}  // namespace feedring::pack
