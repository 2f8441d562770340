// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/archive_shelf.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace feedring {
namespace {

// Shuffled samples go to all archives at once; a process may have 1024 files open where nobody raised that.
constexpr std::size_t kMostOpen = 128;

std::shared_ptr<const OpenArchive> open_archive(int directory, const Index& index, std::uint64_t number) {
  auto archive = std::make_shared<OpenArchive>();
  archive->number = number;
  const std::string_view name = index.archive(number);  // with a NUL behind it
  archive->file.reset(::openat(directory, name.data(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!archive->file || ::fstat(archive->file.get(), &info) != 0) {
    archive->fault = fmt::format("lies in {}, which cannot be opened: {}", name, std::strerror(errno));
  } else if (!S_ISREG(info.st_mode) || static_cast<std::uint64_t>(info.st_size) != index.archive_bytes(number)) {
    archive->fault = fmt::format(
        "lies in {}, which has {} bytes where the index has {}: the data changed since the pool "
        "started",
        name, info.st_size, index.archive_bytes(number));
  } else {
    archive->bytes = static_cast<std::uint64_t>(info.st_size);
  }
  return archive;
}

}  // namespace

std::shared_ptr<const OpenArchive> ArchiveShelf::open(int directory, const Index& index, std::uint64_t number) {
  const auto known = std::find_if(opened_.begin(), opened_.end(), [&](const auto& a) { return a->number == number; });
  if (known != opened_.end() && !(*known)->fault) {
    std::rotate(opened_.begin(), known, known + 1);
    return opened_.front();
  }
  if (known != opened_.end()) opened_.erase(known);  // it may be back
  opened_.push_front(open_archive(directory, index, number));
  if (opened_.size() > kMostOpen) opened_.pop_back();
  return opened_.front();
}

}  // namespace feedring
