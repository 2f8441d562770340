// SPDX-License-Identifier: Apache-2.0
// Shared memory without names: memfds, their seals, and mappings of them. A memfd dies with its last descriptor and
// mapping, so `kill -9` of everybody leaves nothing behind, and /dev/shm's size does not matter.
#pragma once

#include <sys/types.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace feedring {

/// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept;
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A sealable, close-on-exec, non-executable memfd of `bytes` (all zero, no page reserved yet). `name` shows in
/// /proc/<pid>/maps only. Throws Error(kInternal).
[[nodiscard]] UniqueFd create_memfd(const char* name, std::uint64_t bytes);

/// After this nobody can change the size: a peer cannot turn our next access into SIGBUS.
void seal_size(int fd);
/// After this nobody can write or change the size. No writable mapping may exist.
void seal_content(int fd);
/// True once nobody can shrink the file behind `fd`: what a peer hands over is asked this before it is mapped.
[[nodiscard]] bool size_is_sealed(int fd);

/// Size of the file behind `fd` in bytes.
[[nodiscard]] std::uint64_t size_of(int fd);

/// A shared mapping of a whole memfd: close to Boost.Interprocess' mapped_region, plus MADV_DONTFORK, so that a forked
/// child of a trainer cannot touch the ring by accident.
class Mapping {
 public:
  enum class Access { kReadOnly, kReadWrite };

  Mapping() = default;
  /// Maps all of `fd`; the descriptor may be closed afterwards. Throws Error(kInternal), also where the file is shorter
  /// than `at_least` bytes.
  Mapping(int fd, Access access, std::uint64_t at_least = 1);
  Mapping(Mapping&& other) noexcept = default;
  Mapping& operator=(Mapping&& other) noexcept;
  /// In a forked child this does nothing: the memory is not mapped there, and something else may lie in its place.
  ~Mapping();

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(region_.get_address()); }
  [[nodiscard]] std::size_t size() const noexcept { return region_.get_size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data(), size()}; }
  explicit operator bool() const noexcept { return size() != 0; }

  /// Faults the pages in [offset, offset + length) now (MADV_POPULATE_WRITE or _READ, else by touching them), so that
  /// the steady state takes no page fault. Returns false where the kernel refused.
  bool populate(std::size_t offset, std::size_t length) const noexcept;

 private:
  boost::interprocess::mapped_region region_;
  Access access_ = Access::kReadOnly;
  pid_t process_ = 0;  // that mapped it
};

}  // namespace feedring
