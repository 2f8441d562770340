// SPDX-License-Identifier: Apache-2.0
#include "runtime/memfd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <new>

#include "runtime/huge_pages.hpp"

// Newer than Debian 12's headers on some systems; the values are the kernel's ABI.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace feedring {
namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorKind::kInternal, fmt::format("{} failed: {}", what, std::strerror(errno)));
}

// What mapped_region asks of the thing it maps.
struct Mappable {
  int fd;
  boost::interprocess::mode_t mode;
  [[nodiscard]] boost::interprocess::mapping_handle_t get_mapping_handle() const {
    return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(fd);
  }
  [[nodiscard]] boost::interprocess::mode_t get_mode() const { return mode; }
};

}  // namespace

void UniqueFd::reset(int fd) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

UniqueFd create_memfd(const char* name, std::uint64_t bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
  // Kernels before 6.3 do not know MFD_NOEXEC_SEAL.
  if (!fd && errno == EINVAL) fd.reset(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) fail("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) fail("ftruncate of a memfd");
  return fd;
}

void seal_size(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) fail("sealing the size of a memfd");
}

void seal_content(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    fail("sealing the content of a memfd");
}

bool size_is_sealed(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

std::uint64_t size_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) fail("fstat");
  return static_cast<std::uint64_t>(info.st_size);
}

Mapping::Mapping(int fd, Access access, std::uint64_t at_least) : access_(access), process_(::getpid()) {
  const std::uint64_t bytes = size_of(fd);
  if (bytes < at_least) {
    throw Error(ErrorKind::kInternal,
                fmt::format("a shared segment has {} bytes where {} were promised", bytes, at_least));
  }
  const auto mode = access == Access::kReadOnly ? boost::interprocess::read_only : boost::interprocess::read_write;
  try {
    region_ = boost::interprocess::mapped_region(Mappable{fd, mode}, mode, 0, bytes);
  } catch (const boost::interprocess::interprocess_exception& error) {
    throw Error(ErrorKind::kInternal, fmt::format("mapping {} bytes of shared memory failed: {}", bytes, error.what()));
  }
  ::madvise(region_.get_address(), bytes, MADV_DONTFORK);
  if (bytes >= kHugePage)
    ::madvise(region_.get_address(), bytes, MADV_HUGEPAGE);  // counts only where the system grants it
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  Mapping old(std::move(*this));  // whose destructor knows the process that mapped it
  region_.swap(other.region_);
  access_ = other.access_;
  process_ = other.process_;
  return *this;
}

Mapping::~Mapping() {
  if (process_ == ::getpid() || size() == 0) return;
  // The region's destructor would unmap: move the region to where none is called.
  using Region = boost::interprocess::mapped_region;
  alignas(Region) std::byte grave[sizeof(Region)];
  new (grave) Region(std::move(region_));
}

bool Mapping::populate(std::size_t offset, std::size_t length) const noexcept {
  if (length == 0 || offset >= size()) return true;
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = offset / page * page;
  const std::size_t end = length > size() - offset ? size() : offset + length;
  const int advice = access_ == Access::kReadWrite ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (::madvise(data() + begin, end - begin, advice) == 0) return true;
  if (errno != EINVAL) return false;
  // A kernel without this advice: touch each page, by an access that changes nothing under a peer's hands.
  for (std::size_t at = begin; at < end; at += page) {
    const std::atomic_ref<std::uint8_t> byte(reinterpret_cast<std::uint8_t&>(data()[at]));
    if (access_ == Access::kReadWrite) {
      byte.fetch_or(0, std::memory_order_relaxed);
    } else {
      (void)byte.load(std::memory_order_relaxed);
    }
  }
  return true;
}

}  // namespace feedring
