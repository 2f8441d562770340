// SPDX-License-Identifier: Apache-2.0
// Forked children of a test: run a function, say how it ended. A child that a failed test leaves behind is killed.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace feedring::test {

class Child {
 public:
  /// Forks; the child calls body(), which returns its exit status, and dies with the test.
  template <class Body>
  explicit Child(Body&& body) : pid_(::fork()) {
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

  pid_t pid_;
};

}  // namespace feedring::test
