// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/signals.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

namespace feedring::cli {

namespace {

bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

// An init process inherits orphans. Our own children are waited for by whoever started them; their pidfds fire before
// the signal comes, so that none of them still stands in front here.
void Signals::bury_orphans() const {
  if (::getpid() != 1) return;
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 || ours_(info.si_pid)) return;
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

Signals::Signals(boost::asio::io_context& io, std::function<void(int, bool)> on_signal, std::function<bool(pid_t)> ours)
    : descriptor_(io), on_signal_(std::move(on_signal)), ours_(std::move(ours)) {
  ::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of the write, told with a name
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // What our caller wants ignored (nohup, a background job of a script) stays so.
    if (!is_ignored(number)) ::sigaddset(&set, number);
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const int fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw Error(ErrorKind::kInternal, fmt::format("signalfd failed: {}", std::strerror(errno)));
  descriptor_.assign(fd);
  watch();
}

void Signals::watch() {
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](const boost::system::error_code& error) {
                           if (error) return;
                           signalfd_siginfo info{};
                           while (::read(descriptor_.native_handle(), &info, sizeof info) == sizeof info) {
                             if (info.ssi_signo == SIGCHLD) {
                               bury_orphans();
                             } else {
                               on_signal_(static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL);
                             }
                           }
                           watch();
                         });
}

}  // namespace feedring::cli
