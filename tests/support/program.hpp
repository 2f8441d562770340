// SPDX-License-Identifier: Apache-2.0
// A program that a test starts, watches and always gets rid of. Its output goes to memory, not to pipes, so that nobody
// whom it leaves behind keeps the test waiting.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace feedring::test {

using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

/// Every wait of the tests that is not about time itself: long, because the machine may be busy.
inline constexpr seconds kPatience{40};

/// Looks until `condition()` holds or the time is over; says whether it held.
template <class Condition>
bool eventually(Condition&& condition, Clock::duration patience = kPatience,
                Clock::duration between = std::chrono::milliseconds(10)) {
  const auto end = Clock::now() + patience;
  for (;;) {
    if (condition()) return true;
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(between);
  }
}

struct Start {
  std::vector<std::string> command;  ///< the first is the program's path, or is looked up in PATH
  std::map<std::string, std::string> environment =
      {};                                  ///< added to the test's own, from which a launcher's variables are gone
  std::string folder = {};                 ///< to start in; empty: the test's own
  std::string input = {};                  ///< its standard input
  bool own_group = false;                  ///< leads a process group
  int terminal = -1;                       ///< set: a terminal for input, output and control, in a session of its own
  std::function<bool()> before = nullptr;  ///< runs in the child, last; only system calls. False: exit code 125
};

class Program {
 public:
  explicit Program(const Start& start) : name_(start.command.at(0)), out_(memory()), err_(memory()) {
    const int in = memory();
    if (!start.input.empty() && ::write(in, start.input.data(), start.input.size()) < 0) ADD_FAILURE() << "write";
    ::lseek(in, 0, SEEK_SET);
    std::vector<std::string> variables = environment_of(start);
    std::vector<char*> envp = pointers(variables);
    std::vector<std::string> command = start.command;
    std::vector<char*> argv = pointers(command);
    pid_ = ::fork();
    if (pid_ == 0) {
      sigset_t none;
      ::sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
      if (start.terminal >= 0) {
        ::setsid();
        ::ioctl(start.terminal, TIOCSCTTY, 0);
      }
      if (start.own_group) ::setpgid(0, 0);
      if (!start.folder.empty() && ::chdir(start.folder.c_str()) != 0) ::_exit(126);
      ::dup2(start.terminal >= 0 ? start.terminal : in, 0);
      ::dup2(start.terminal >= 0 ? start.terminal : out_, 1);
      ::dup2(err_, 2);
      if (start.before && !start.before()) ::_exit(125);
      ::execvpe(argv[0], argv.data(), envp.data());
      ::_exit(127);
    }
    ::close(in);
    if (start.own_group) ::setpgid(pid_, pid_);  // whoever comes first
  }
  Program(Program&& other) noexcept
      : name_(std::move(other.name_)),
        pid_(std::exchange(other.pid_, -1)),
        code_(other.code_),
        out_(std::exchange(other.out_, -1)),
        err_(std::exchange(other.err_, -1)) {}
  Program& operator=(Program&&) = delete;
  ~Program() {
    if (pid_ > 0 && !code_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (out_ >= 0) ::close(out_);
    if (err_ >= 0) ::close(err_);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill(int number) const {
    if (!code_) ::kill(pid_, number);
  }
  /// To the process group that it leads.
  void kill_group(int number) const { ::kill(-pid_, number); }

  /// Its exit status, 128 + n for a signal; nothing while it lives.
  std::optional<int> poll() {
    if (code_) return code_;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return code_;
  }
  /// The same, once it has ended. Past the deadline: a failure, it is killed, and 137 is returned.
  int wait(Clock::duration patience = kPatience) {
    if (!eventually([this] { return poll().has_value(); }, patience)) {
      ADD_FAILURE() << name_ << " did not end in time; it wrote:\n" << out() << err();
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      code_ = 137;
    }
    return *code_;
  }

  /// What it and its descendants have written until now.
  [[nodiscard]] std::string out() const { return content(out_); }
  [[nodiscard]] std::string err() const { return content(err_); }
  /// The complete lines of out() that are JSON objects.
  [[nodiscard]] std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> found;
    const std::string text = out();
    std::istringstream stream(text.substr(0, text.rfind('\n') + 1));
    for (std::string line; std::getline(stream, line);) {
      auto value = nlohmann::json::parse(line, nullptr, false);
      if (value.is_object()) found.push_back(std::move(value));
    }
    return found;
  }

 private:
  static int memory() {
    const int fd = ::memfd_create("output", MFD_CLOEXEC);
    ::fcntl(fd, F_SETFL, O_APPEND);
    return fd;
  }
  static std::string content(int fd) {
    std::string text;
    std::array<char, 65536> buffer{};
    for (ssize_t got; (got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  static std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> list;
    for (std::string& text : strings) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
  }
  static std::vector<std::string> environment_of(const Start& start) {
    std::map<std::string, std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text(*entry);
      const std::size_t equals = text.find('=');
      const std::string name = text.substr(0, equals);
      bool launcher = false;
      for (const char* prefix : {"FEEDRING_", "RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "MASTER_", "TORCHELASTIC_",
                                 "SLURM_", "OMPI_", "PMI", "MPI_"}) {
        launcher = launcher || name.starts_with(prefix);
      }
      launcher = launcher && name != "FEEDRING_CANARIES";
      if (!launcher && equals != std::string::npos) all[name] = text.substr(equals + 1);
    }
    for (const auto& [name, value] : start.environment) all[name] = value;
    std::vector<std::string> list;
    for (const auto& [name, value] : all) list.push_back(name + "=" + value);
    return list;
  }

  std::string name_;
  pid_t pid_ = -1;
  std::optional<int> code_;
  int out_;
  int err_;
};

/// What a command that was run to its end left.
struct Finished {
  int code = -1;  ///< exit status, or 128 + the signal that ended it
  std::string out;
  std::string err;

  /// Each line of `out` as JSON; throws where one is none.
  [[nodiscard]] std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> values;
    std::istringstream stream(out);
    for (std::string line; std::getline(stream, line);) values.push_back(nlohmann::json::parse(line));
    return values;
  }
};

#ifdef FEEDRING_COMMAND
/// Runs the built command with these arguments and variables. Reading thousands of files under a sanitizer takes its
/// time, hence more patience than kPatience.
inline Finished run_command(const std::vector<std::string>& arguments,
                            const std::map<std::string, std::string>& environment = {}) {
  Start start{.command = {FEEDRING_COMMAND}, .environment = environment};
  start.command.insert(start.command.end(), arguments.begin(), arguments.end());
  Program program(start);
  const int code = program.wait(std::chrono::minutes(4));
  return {code, program.out(), program.err()};
}
#endif

}  // namespace feedring::test
