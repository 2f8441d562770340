// SPDX-License-Identifier: Apache-2.0
// Forked children of a test: run a function, say how it ended. A child that a failed test leaves behind is killed.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#endif

namespace feedring::test {

/// AddressSanitizer does nothing about its own locks at a fork: one that another thread has, say because that is just
/// starting, is held in the child for ever. A thread that sleeps has none, and so this waits, a while, until all others
/// do.
inline void let_other_threads_settle() {
#if defined(__SANITIZE_ADDRESS__)
  const auto others_sleep = [] {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string stat;
      std::getline(std::ifstream(task.path() / "stat"), stat);
      const std::size_t state = stat.rfind(") ") + 2;  // behind the name, which may hold anything
      if (task.path().filename() != std::to_string(::gettid()) && state < stat.size() && stat[state] != 'S')
        return false;
    }
    return true;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!others_sleep() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
#endif
}

class Child {
 public:
  /// Forks; the child calls body(), which returns its exit status, and dies with the test.
  template <class Body>
  explicit Child(Body&& body) {
    let_other_threads_settle();
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(body());
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Child() {
    if (pid_ > 0) kill(SIGKILL), wait();
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill(int signal) const { ::kill(pid_, signal); }

  /// Its exit status, or 128 + the signal that ended it; waits for that.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
    }
    pid_ = -1;
    return code(status);
  }
  /// The same, or -1 while it lives.
  int poll() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) <= 0) return -1;
    pid_ = -1;
    return code(status);
  }

 private:
  static int code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

  pid_t pid_ = -1;
};

}  // namespace feedring::test
