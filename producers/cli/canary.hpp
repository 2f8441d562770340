// SPDX-License-Identifier: Apache-2.0
// Whether a signal was sent to us alone or to everybody. Schedulers and `kill -- -GROUP` send one to each process of a
// job: passed on, it would reach the command twice, and a second SIGTERM means "at once" to many (torchrun among them).
// The kernel does not tell, so a small process beside the command gets what the command gets, and dies of it.
#pragma once

#include <sys/types.h>

#include "runtime/memfd.hpp"

namespace feedring::cli {

class Canary {
 public:
  /// Forks; from the one thread of a program whose signals are blocked already. Throws Error(kInternal).
  Canary();
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;
  ~Canary();

  /// After this program got the signal: did the canary, too? Waits a moment for that. Another canary takes the place of
  /// a dead one.
  [[nodiscard]] bool also_got(int number);

  [[nodiscard]] bool is(pid_t pid) const noexcept { return pid == pid_; }

 private:
  void hatch();
  int bury();

  pid_t pid_ = 0;
  UniqueFd death_;
};

}  // namespace feedring::cli
