// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/canary.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "runtime/process.hpp"

namespace feedring::cli {
namespace {

// A kernel signals the processes of a group one after the other, in microseconds; a scheduler does it by a loop of its
// own.
constexpr int kMomentMs = 100;

[[noreturn]] void sit(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::prctl(PR_SET_NAME, "feedring-canary");
  // It keeps nobody's pipe, socket or memory.
  ::close_range(0, ~0U, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (;;) ::pause();
}

}  // namespace

Canary::Canary() { hatch(); }

Canary::~Canary() {
  ::kill(pid_, SIGKILL);
  bury();
}

void Canary::hatch() {
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw Error(ErrorKind::kInternal, fmt::format("fork failed: {}", std::strerror(errno)));
  if (pid_ == 0) sit(parent);
  death_ = open_pidfd(pid_);
}

// What it died of.
int Canary::bury() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool Canary::also_got(int number) {
  if (!is_dead(death_.get(), kMomentMs)) return false;
  const int cause = bury();
  hatch();
  return cause == number;
}

}  // namespace feedring::cli
