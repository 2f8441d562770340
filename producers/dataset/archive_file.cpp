// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/archive_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/dataset/labels.hpp"

namespace feedring::dataset {

ArchiveFile::ArchiveFile(const std::filesystem::path& file, std::string_view kind)
    : name_(file.native()), kind_(kind), file_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  struct stat info {};
  if (!file_ || ::fstat(file_.get(), &info) != 0) fail(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail("it is no regular file");
  bytes_ = static_cast<std::uint64_t>(info.st_size);
}

void ArchiveFile::read(std::uint64_t offset, void* target, std::uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) fail("it is cut short, or damaged");
  std::optional<std::string> fault;
  if (read_at(file_.get(), offset, static_cast<std::uint8_t*>(target), bytes, Wait::kForStorage, name_, fault) !=
      ReadOutcome::kRead) {
    fail(*fault);
  }
}

std::string ArchiveFile::read_text(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) fail("it is cut short, or damaged");
  std::string text(bytes, '\0');
  read(offset, text.data(), bytes);
  return text;
}

void ArchiveFile::fail(std::string_view what) const {
  throw Error(ErrorKind::kData, fmt::format("cannot read the {} {}: {}", kind_, shown(name_), what));
}

void ArchiveFile::fail(std::string_view member, std::string_view what) const {
  fail(fmt::format("{} {}", shown(member), what));
}

}  // namespace feedring::dataset
