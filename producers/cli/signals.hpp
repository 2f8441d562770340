// SPDX-License-Identifier: Apache-2.0
// Signals as events of the loop, with the sender known: a terminal's ^C reaches the launched command by itself, a
// `kill` of the supervisor alone must be passed on.
#pragma once

#include <sys/types.h>

#include <functional>

#include "producers/pool/asio.hpp"

namespace feedring::cli {

class Signals {
 public:
  /// Blocks INT, TERM, HUP and CHLD for the process and reads them here; ignores PIPE. `on_signal(number,
  /// from_terminal)` for the first three, except where the caller of this program had them ignored. As PID 1 of a
  /// container it also buries orphans: children that are not `ours`, whom others wait for.
  Signals(boost::asio::io_context& io, std::function<void(int, bool)> on_signal, std::function<bool(pid_t)> ours);

 private:
  void watch();
  void bury_orphans() const;

  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void(int, bool)> on_signal_;
  std::function<bool(pid_t)> ours_;
};

}  // namespace feedring::cli
