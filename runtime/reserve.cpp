// SPDX-License-Identifier: Apache-2.0
#include "runtime/reserve.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "runtime/memory_limits.hpp"

namespace feedring {

bool reserve_pages(int memfd, std::uint64_t bytes) {
  if (oom_kills_group()) return ::fallocate(memfd, 0, 0, static_cast<off_t>(bytes)) == 0;
  const pid_t child = ::fork();
  if (child < 0) {
    throw Error(ErrorKind::kInternal, fmt::format("fork failed while reserving memory: {}", std::strerror(errno)));
  }
  if (child == 0) {
    // Only system calls from here. The pages stay with the memfd when this process is gone.
    const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0 || ::write(score, "1000", 4) != 4) ::_exit(2);
    ::_exit(::fallocate(memfd, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR)
      throw Error(ErrorKind::kInternal, fmt::format("waitpid failed while reserving memory: {}", std::strerror(errno)));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace feedring
