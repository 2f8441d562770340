// SPDX-License-Identifier: Apache-2.0
// Threads of a library in somebody else's program: they take none of its signals, which the program's own threads and
// handlers wait for.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace feedring {

/// Throws std::system_error where no thread can be had.
template <class Body>
[[nodiscard]] std::thread start_quietly(Body&& body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  struct Restore {
    sigset_t* mask;
    ~Restore() { ::pthread_sigmask(SIG_SETMASK, mask, nullptr); }
  } const restore{&before};
  return std::thread(std::forward<Body>(body));
}

}  // namespace feedring
