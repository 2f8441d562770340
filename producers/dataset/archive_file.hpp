// SPDX-License-Identifier: Apache-2.0
// An archive as a list of files. Internal to this folder and producers/pack.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/member.hpp"
#include "runtime/memfd.hpp"

namespace feedring::dataset {

/// The bytes of an archive, or of another file of gigabytes, and the sentence about what is wrong with it. They are
/// read and never mapped: somebody may make the file shorter meanwhile.
class ArchiveFile {
 public:
  /// `kind` says in messages what it is. Throws Error(kData) where it cannot be opened.
  explicit ArchiveFile(const std::filesystem::path& file, std::string_view kind = "archive");

  [[nodiscard]] int fd() const noexcept { return file_.get(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Throws Error(kData) where the archive ends before.
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const;
  [[nodiscard]] std::string read_text(std::uint64_t offset, std::uint64_t bytes) const;
  /// Throws Error(kData) with the archive's name.
  [[noreturn]] void fail(std::string_view what) const;
  /// The same about one of its members.
  [[noreturn]] void fail(std::string_view member, std::string_view what) const;

 private:
  std::string name_;
  std::string_view kind_;  // a literal
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
};

/// A file in an archive, as its headers say: contradiction_in() has not been asked yet.
struct Listed {
  std::string name;  ///< without "./" in front
  std::uint64_t bytes = 0;
  Member member;
  bool regular = true;  ///< neither a folder nor a link
  std::string refusal;  ///< why it cannot be read: encrypted, in a compression that is not known, sparse; else empty
};

/// The members, folders left out, in the order of the archive. Throws Error(kData) for one that is damaged.
[[nodiscard]] std::vector<Listed> list_tar(const ArchiveFile& file);
[[nodiscard]] std::vector<Listed> list_zip(const ArchiveFile& file);

}  // namespace feedring::dataset
