// SPDX-License-Identifier: Apache-2.0
// Who lives and who died. Death is a fired pidfd, never a closed socket: a forked child keeps a socket open, and a
// living process may close one.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "runtime/memfd.hpp"

namespace feedring {

/// A pidfd of a process, close-on-exec; empty where the process is gone already.
[[nodiscard]] UniqueFd open_pidfd(pid_t pid);

/// True once the process behind the pidfd has died, all its threads included. Waits up to `timeout_ms` for that.
[[nodiscard]] bool is_dead(int pidfd, int timeout_ms = 0);

/// Sends a signal to exactly that process, never to a later one with its number. False: it is gone.
bool send_signal(int pidfd, int signal);

/// The other end of a connected unix socket, as the kernel recorded it at connect (SO_PEERCRED).
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};
[[nodiscard]] Peer peer_of(int socket);

/// A pidfd of the peer of a connected socket: SO_PEERPIDFD where the kernel has it (6.5), else pidfd_open of its pid.
[[nodiscard]] UniqueFd peer_pidfd(int socket);

/// The process that started this one, or that the kernel gave it to since; 0 where it is gone.
[[nodiscard]] pid_t parent_of(pid_t pid);

/// CPU time of a living process in nanoseconds, user and system, all threads; 0 where it is gone.
[[nodiscard]] std::uint64_t cpu_ns_of(pid_t pid);

/// Page faults without input or output that a process has taken; 0 where it is gone.
[[nodiscard]] std::uint64_t minor_faults_of(pid_t pid);

}  // namespace feedring
