// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/read_image.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/memfd.hpp"

namespace feedring::cli {
namespace {

constexpr off_t kLargest = off_t{2} << 30;  ///< no image of a sane size, and more than one decode may allocate

}  // namespace

Fault FileBytes::read(const std::string& path) {
  size_ = 0;
  // O_NONBLOCK: a pipe in the place of a file must not make anybody wait; fstat then refuses it.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return std::string("cannot be opened: ") + std::strerror(errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return std::string("cannot be read: ") + std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "not a regular file";
  if (status.st_size > kLargest) return "larger than 2 GiB";
  const auto wanted = static_cast<std::size_t>(status.st_size);
  memory_.resize(std::max(memory_.size(), wanted + kSlack));
  while (size_ < wanted) {
    const ssize_t got = ::read(file.get(), memory_.data() + size_, wanted - size_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::string("cannot be read: ") + std::strerror(errno);
    if (got == 0) return "became shorter while it was read";
    size_ += static_cast<std::size_t>(got);
  }
  return std::nullopt;
}

Fault FileBytes::read(const Scan& scan, const Sample& sample) {
  const std::string path(scan.path(sample));
  if (sample.member == kNoMember) return read(scan.root + '/' + path);
  size_ = 0;
  const Member& member = scan.members.at(sample.member);
  const Archive& archive = scan.archives.at(member.archive);
  const std::string name = scan.root + '/' + archive.name;
  if (name != archive_) {
    archive_file_.reset(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    archive_ = archive_file_ ? name : "";
    if (!archive_file_) return "lies in an archive that cannot be opened: " + std::string(std::strerror(errno));
  }
  memory_.resize(std::max<std::size_t>(memory_.size(), sample.bytes + kSlack));
  Fault fault;
  if (read_member(archive_file_.get(), archive.bytes, member, memory_.data(), sample.bytes, Wait::kForStorage, path,
                  fault) == ReadOutcome::kRead) {
    size_ = sample.bytes;
  }
  return fault;
}

}  // namespace feedring::cli
