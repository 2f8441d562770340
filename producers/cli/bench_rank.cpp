// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/bench_rank.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/cli/launcher.hpp"
#include "producers/cli/programs.hpp"

namespace feedring::cli {

BenchRank::BenchRank(boost::asio::io_context& io, const std::vector<std::string>& arguments,
                     std::function<void(BenchRank&, const nlohmann::json&)> heard, std::function<void(int)> ended)
    : out_(io), heard_(std::move(heard)), ended_(std::move(ended)) {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
    throw Error(ErrorKind::kInternal, fmt::format("pipe failed: {}", std::strerror(errno)));
  const UniqueFd their_in(in[0]);
  const UniqueFd their_out(out[1]);
  in_.reset(in[1]);
  out_.assign(out[0]);

  std::vector<std::string> command = {libexec_program("feedring-drain").string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : command) argv.push_back(text.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, their_in.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, their_out.get(), STDOUT_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t ours;
  ::sigemptyset(&none);
  ::sigemptyset(&ours);
  ::sigaddset(&ours, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &ours);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int rc = ::posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (rc != 0) {
    pid_ = 0;
    throw Error(ErrorKind::kInternal, fmt::format("{} cannot be started: {}", command[0], std::strerror(rc)));
  }
  listen();
}

BenchRank::~BenchRank() {
  if (pid_ == 0) return;
  in_.reset();
  if (!result) ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool BenchRank::go() { return ::write(in_.get(), "\n", 1) == 1; }

void BenchRank::listen() {
  out_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    char chunk[4096];
    const ssize_t got = ::read(out_.native_handle(), chunk, sizeof chunk);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      out_.close();
      if (result) return;
      int status = 0;
      ::waitpid(pid_, &status, 0);
      pid_ = 0;
      ended_(exit_code_of(status));
      return;
    }
    if (got > 0) buffer_.append(chunk, static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = buffer_.find('\n')) != std::string::npos;) {
      const std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      heard_(*this, nlohmann::json::parse(line, nullptr, false));
    }
    listen();
  });
}

}  // namespace feedring::cli
