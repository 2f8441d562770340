// SPDX-License-Identifier: Apache-2.0
// Writes a tar that any tool reads: GNU's form, for names of any length. The same files give the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "producers/pack/checksum.hpp"
#include "runtime/memfd.hpp"

namespace feedring::pack {

/// Writes beside `target` and renames at the end, so that nobody ever sees half a file under its name.
class TarWriter {
 public:
  /// Takes `TARGET.part`, with what an earlier try left there: cut() comes before the first add(). Throws Error(kUsage)
  /// where another process is writing it, or something else lies there, Error(kData) where it cannot be written,
  /// Error(kMemory) for want of room.
  explicit TarWriter(std::filesystem::path target);
  /// Removes what is not finished, but for keep().
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  /// What an earlier try left: so many bytes, and the checksum of some of them.
  [[nodiscard]] std::uint64_t found_bytes() const noexcept { return found_bytes_; }
  [[nodiscard]] std::string checksum(std::uint64_t begin, std::uint64_t end) const;
  /// Goes on behind the first `bytes` bytes of that, which stay whatever comes; where there are none, nothing stays.
  void cut(std::uint64_t bytes);
  /// What is not finished stays, for a later try.
  void keep() noexcept { kept_ = true; }

  void add(std::string_view name, std::span<const std::uint8_t> bytes);
  /// How many bytes there are, all of them written to the file, and the checksum of those since this was asked before.
  std::uint64_t written();
  [[nodiscard]] std::string take_checksum() { return sum_.take(); }
  /// Writes the end, sees everything on the disk, and gives the file its name, over no other file. Returns its bytes.
  std::uint64_t finish();

 private:
  /// Opens and locks the file; false where it has another name by then, or none.
  bool take_part();
  [[noreturn]] void fail_as_taken() const;
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
  Checksum sum_;
  std::uint64_t found_bytes_ = 0;
  std::uint64_t written_ = 0;
  bool kept_ = true;
  bool finished_ = false;
};

}  // namespace feedring::pack
