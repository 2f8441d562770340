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

}  // namespace feedring::cli
