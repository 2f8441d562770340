// SPDX-License-Identifier: Apache-2.0
// Starts the user's command beside the pool: once, or N times with torchrun's variables; passes signals on; tells when
// and how it ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "producers/pool/asio.hpp"

namespace feedring::cli {

struct CommandLauncherOptions {
  std::vector<std::string> command;
  std::optional<std::uint32_t> copies;             ///< nullopt: one, with the environment as it is
  std::map<std::string, std::string> environment;  ///< added to ours
};

class CommandLauncher {
 public:
  CommandLauncher(boost::asio::io_context& io, CommandLauncherOptions options, std::function<void(int)> on_end);
  ~CommandLauncher();

  /// Starts the command in our process group, with our terminal and standard input. Throws Error(kUsage) where the
  /// program cannot be started.
  void start();

  /// To every copy that lives.
  void signal(int number);

  [[nodiscard]] bool owns(pid_t pid) const;

 private:
  struct Child;

  void spawn(std::uint32_t index);
  void ended(Child& child);

  boost::asio::io_context& io_;
  CommandLauncherOptions options_;
  std::function<void(int)> on_end_;
  std::list<Child> children_;
  boost::asio::steady_timer kill_timer_;
  std::uint32_t living_ = 0;
  std::optional<int> code_;  // of the first failure
};

/// 128 + n for a signal, else the exit status.
[[nodiscard]] int exit_code_of(int wait_status);

/// A TCP port that was free a moment ago, for MASTER_PORT.
[[nodiscard]] std::uint16_t free_port();

}  // namespace feedring::cli
