// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/background.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/cli/launcher.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/programs.hpp"
#include "runtime/memfd.hpp"

namespace feedring::cli {
namespace {

constexpr int kReadyInChild = 3;

struct Pipe {
  UniqueFd out;
  UniqueFd in;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ErrorKind::kInternal, fmt::format("pipe failed: {}", std::strerror(errno)));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Whoever reads a pipe to its end would wait for the end of the pool, if the pool had it. A file or a terminal is the
// pool's to write to for all its life; what comes for a pipe is passed on until the pool serves.
bool somebody_reads_to_the_end(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

pid_t spawn(const std::vector<std::string>& arguments, const Pipe& ready, const Pipe& words) {
  std::vector<std::string> command = {own_program().string(), "start", "--foreground", "--ready-fd",
                                      std::to_string(kReadyInChild)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : command) argv.push_back(text.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (words.in) ::posix_spawn_file_actions_adddup2(&actions, words.in.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ready.in.get(), kReadyInChild);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  // A lock or a pipe that our caller left open is none of the pool's.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kReadyInChild + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int rc = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (rc != 0)
    throw Error(ErrorKind::kInternal, fmt::format("{} cannot be started: {}", command[0], std::strerror(rc)));
  return pid;
}

// One read of what is there; false at the end.
bool read_some(int fd, std::string& into) {
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

// Passes on what has been said; false at the end.
bool pass_on(int fd) {
  std::string text;
  const bool more = read_some(fd, text);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (put < 0 && errno != EINTR) break;  // nobody reads it any more
    if (put > 0) done += static_cast<std::size_t>(put);
  }
  return more;
}

}  // namespace

int start_in_background(const std::vector<std::string>& arguments) {
  Pipe ready = make_pipe();
  Pipe words;
  if (somebody_reads_to_the_end(STDERR_FILENO)) words = make_pipe();
  const pid_t pid = spawn(arguments, ready, words);
  ready.in.reset();
  words.in.reset();

  std::string address;
  // A negative descriptor is one that poll() leaves out.
  pollfd both[2] = {{ready.out.get(), POLLIN, 0}, {words.out.get(), POLLIN, 0}};
  while (both[0].fd >= 0) {
    if (::poll(both, 2, -1) < 0) continue;
    if (both[1].revents != 0 && !pass_on(both[1].fd)) both[1].fd = -1;
    if (both[0].revents != 0 && !read_some(both[0].fd, address)) both[0].fd = -1;
  }
  int status = 0;
  if (address.empty()) ::waitpid(pid, &status, 0);  // it has said why
  while (::poll(both, 2, 0) == 1 && pass_on(both[1].fd)) {
  }
  if (address.empty()) return exit_code_of(status);
  write_line("FEEDRING_POOL=" + address);
  return 0;
}

}  // namespace feedring::cli
