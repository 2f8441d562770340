// SPDX-License-Identifier: Apache-2.0
#include "runtime/reserve.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "runtime/huge_pages.hpp"
#include "runtime/memory_limits.hpp"

namespace feedring {

namespace {

// Only system calls: this runs in a forked child. Preferences that the kernel does not take are none.
bool allocate(int memfd, std::uint64_t bytes, std::optional<unsigned> node, bool huge) noexcept {
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  unsigned long nodes[1024 / kBits] = {};
  unsigned long nodes_before[1024 / kBits] = {};
  int before = MPOL_DEFAULT;
  if (node && *node < 1024) {
    ::syscall(SYS_get_mempolicy, &before, nodes_before, 1024UL, nullptr, 0UL);
    nodes[*node / kBits] = 1UL << (*node % kBits);
    ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes, 1024 + 1);
  }
  if (huge) {
    // fallocate alone asks nobody for huge pages; a mapping that was advised does.
    void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    if (mapped != MAP_FAILED) {
      if (::madvise(mapped, bytes, MADV_HUGEPAGE) == 0) ::madvise(mapped, bytes, MADV_POPULATE_WRITE);
      ::munmap(mapped, bytes);
    }
  }
  const bool all = ::fallocate(memfd, 0, 0, static_cast<off_t>(bytes)) == 0;
  if (node) ::syscall(SYS_set_mempolicy, before, before == MPOL_DEFAULT ? nullptr : nodes_before, 1024UL + 1);
  return all;
}

}  // namespace

bool reserve_pages(int memfd, std::uint64_t bytes, std::optional<unsigned> node) {
  const bool huge = bytes >= kHugePage && huge_page_policy() == "advise";  // the other policies need no advice
  if (oom_kills_group()) return allocate(memfd, bytes, node, huge);
  const pid_t child = ::fork();
  if (child < 0) {
    throw Error(ErrorKind::kInternal, fmt::format("fork failed while reserving memory: {}", std::strerror(errno)));
  }
  if (child == 0) {
    // Only system calls from here. The pages stay with the memfd when this process is gone.
    const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0 || ::write(score, "1000", 4) != 4) ::_exit(2);
    ::_exit(allocate(memfd, bytes, node, huge) ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR)
      throw Error(ErrorKind::kInternal, fmt::format("waitpid failed while reserving memory: {}", std::strerror(errno)));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace feedring
