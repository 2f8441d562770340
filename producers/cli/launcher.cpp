// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/launcher.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "runtime/process.hpp"

namespace feedring::cli {
namespace {

// What the other copies get to end by themselves after one has failed.
constexpr std::chrono::seconds kKillAfter{5};

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : added) all[name] = value;
  std::vector<std::string> list;
  for (const auto& [name, value] : all) list.push_back(name + "=" + value);
  return list;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& text : strings) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

struct CommandLauncher::Child {
  explicit Child(boost::asio::io_context& io) : death(io) {}
  pid_t pid = 0;
  boost::asio::posix::stream_descriptor death;
  bool alive = true;
};

CommandLauncher::CommandLauncher(boost::asio::io_context& io, CommandLauncherOptions options,
                                 std::function<void(int)> on_end)
    : io_(io), options_(std::move(options)), on_end_(std::move(on_end)), kill_timer_(io) {}

CommandLauncher::~CommandLauncher() = default;

void CommandLauncher::start() {
  const std::uint32_t copies = options_.copies.value_or(1);
  if (options_.copies) {
    options_.environment["MASTER_ADDR"] = "127.0.0.1";
    options_.environment["MASTER_PORT"] = std::to_string(free_port());
    options_.environment["WORLD_SIZE"] = std::to_string(copies);
    options_.environment["LOCAL_WORLD_SIZE"] = std::to_string(copies);
    options_.environment["GROUP_RANK"] = "0";
    options_.environment["TORCHELASTIC_RUN_ID"] = fmt::format("feedring-{}", ::getpid());
    options_.environment["TORCHELASTIC_RESTART_COUNT"] = "0";
  }
  for (std::uint32_t i = 0; i < copies; ++i) spawn(i);
}

void CommandLauncher::spawn(std::uint32_t index) {
  if (options_.copies) {
    options_.environment["RANK"] = std::to_string(index);
    options_.environment["LOCAL_RANK"] = std::to_string(index);
  }
  std::vector<std::string> environment = merged_environment(options_.environment);
  std::vector<std::string> command = options_.command;
  std::vector<char*> envp = pointers(environment);
  std::vector<char*> argv = pointers(command);

  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t ours;
  ::sigemptyset(&none);
  ::sigemptyset(&ours);
  ::sigaddset(&ours, SIGPIPE);  // which we ignore; what our caller ignores (nohup) stays ignored
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &ours);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const auto child = children_.emplace(children_.end(), io_);
  const int rc = ::posix_spawnp(&child->pid, argv[0], nullptr, &attributes, argv.data(), envp.data());
  ::posix_spawnattr_destroy(&attributes);
  if (rc != 0) {
    children_.erase(child);
    signal(SIGKILL);
    throw Error(ErrorKind::kUsage, fmt::format("'{}' cannot be started: {}", command[0], std::strerror(rc)));
  }
  ++living_;
  child->death.assign(open_pidfd(child->pid).release());
  child->death.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [this, child](const boost::system::error_code& error) {
                            if (!error) ended(*child);
                          });
}

void CommandLauncher::ended(Child& child) {
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  child.alive = false;
  --living_;
  const int code = exit_code_of(status);
  if (code != 0 && !code_) {
    code_ = code;
    if (living_ != 0) {
      spdlog::warn("process {} of {} ended with code {}; ending the others", child.pid, children_.size(), code);
      signal(SIGTERM);
      kill_timer_.expires_after(kKillAfter);
      kill_timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) signal(SIGKILL);
      });
    }
  }
  if (living_ == 0) {
    kill_timer_.cancel();
    on_end_(code_.value_or(0));
  }
}

void CommandLauncher::signal(int number) {
  for (Child& child : children_) {
    if (child.alive) send_signal(child.death.native_handle(), number);
  }
}

bool CommandLauncher::owns(pid_t pid) const {
  for (const Child& child : children_) {
    if (child.alive && child.pid == pid) return true;
  }
  return false;
}

int exit_code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::uint16_t free_port() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (!socket || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw Error(ErrorKind::kInternal, fmt::format("no free TCP port was found: {}", std::strerror(errno)));
  }
  return ntohs(address.sin_port);
}

}  // namespace feedring::cli
