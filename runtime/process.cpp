// SPDX-License-Identifier: Apache-2.0
#include "runtime/process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

// Newer than Debian 12's headers; the value is the kernel's ABI.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace feedring {
namespace {

// proc(5): the name in parentheses may hold anything; `place` counts the fields after it: the state is 1, ppid 2,
// minflt 8. 0 where the process is gone.
std::uint64_t stat_field(pid_t pid, int place) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t after = line.rfind(')');
  if (after == std::string::npos) return 0;
  std::istringstream fields(line.substr(after + 1));
  std::string skipped;
  for (int i = 1; i < place; ++i) fields >> skipped;
  std::uint64_t value = 0;
  fields >> value;
  return value;
}

}  // namespace

UniqueFd open_pidfd(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

bool is_dead(int pidfd, int timeout_ms) {
  pollfd poll_fd{pidfd, POLLIN, 0};
  int rc = 0;
  do {
    rc = ::poll(&poll_fd, 1, timeout_ms);
  } while (rc < 0 && errno == EINTR);
  return rc == 1 && (poll_fd.revents & POLLIN) != 0;
}

bool send_signal(int pidfd, int signal) { return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0; }

Peer peer_of(int socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return {0, static_cast<uid_t>(-1), 0};
  return {credentials.pid, credentials.uid, credentials.gid};
}

UniqueFd peer_pidfd(int socket) {
  int fd = -1;
  socklen_t length = sizeof fd;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &length) == 0 && fd >= 0) return UniqueFd(fd);
  return open_pidfd(peer_of(socket).pid);
}

std::uint64_t cpu_ns_of(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}

pid_t parent_of(pid_t pid) { return static_cast<pid_t>(stat_field(pid, 2)); }

std::uint64_t minor_faults_of(pid_t pid) { return stat_field(pid, 8); }

}  // namespace feedring
