// SPDX-License-Identifier: Apache-2.0
// Writes a tar that any tool reads: GNU's form, for names of any length. The same files give the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "runtime/memfd.hpp"

namespace feedring::pack {

/// Writes beside `target` and renames at the end, so that nobody ever sees half a file under its name.
class TarWriter {
 public:
  /// Takes `TARGET.part`, whatever an earlier try left there. Throws Error(kUsage) where another process is writing it,
  /// or something else lies there, Error(kData) where it cannot be written, Error(kMemory) for want of room.
  explicit TarWriter(std::filesystem::path target);
  /// Removes what is not finished.
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  void add(std::string_view name, std::span<const std::uint8_t> bytes);
  /// Writes the end, sees everything on the disk, and gives the file its name, over no other file. Returns its bytes.
  std::uint64_t finish();

 private:
  void header(std::string_view name, std::uint64_t bytes, char type);
  void put(std::string_view bytes);
  void pad();
  void flush();
  [[noreturn]] void fail_to_name(int error) const;
  [[noreturn]] void fail(std::string_view what, int error) const;

  std::filesystem::path target_;
  std::filesystem::path part_;
  UniqueFd file_;
  std::string buffer_;
  std::uint64_t written_ = 0;
  bool finished_ = false;
};

}  // namespace feedring::pack
