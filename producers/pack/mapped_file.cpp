// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "runtime/memfd.hpp"

namespace feedring::pack {

MappedFile::MappedFile(const std::filesystem::path& file) {
  const auto fail = [&](std::string_view why) {
    throw Error(ErrorKind::kData, fmt::format("cannot read {}: {}", file.string(), why));
  };
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) fail(std::strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_size == 0) fail("it is no regular file, or empty");
  const auto bytes = static_cast<std::size_t>(info.st_size);
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (memory == MAP_FAILED) fail(std::strerror(errno));
  text_ = {static_cast<const char*>(memory), bytes};
}

MappedFile::~MappedFile() { ::munmap(const_cast<char*>(text_.data()), text_.size()); }

}  // namespace feedring::pack
