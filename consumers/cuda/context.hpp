// SPDX-License-Identifier: Apache-2.0
// How calls reach one GPU: on a thread whose current device it is, never from within a host function, never in a forked
// child. The runtime makes a context on whatever device is current, so that a careless call from a thread that was
// never told leaves one, and some hundred MB, on GPU 0: such calls go to a helper thread.
#pragma once

#include <sys/types.h>

#include <exception>
#include <feedring/error.hpp>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "consumers/cuda/runtime.hpp"

namespace feedring::cudart {

class Context {
 public:
  /// Makes two streams. Throws Error(kRefused) where the device refuses.
  Context(const Runtime& runtime, int index);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  [[nodiscard]] const Runtime& runtime() const noexcept { return *runtime_; }
  [[nodiscard]] int index() const noexcept { return index_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] StreamPtr copies() const noexcept { return copies_; }
  /// Host functions run on a stream of their own, which waits for the event: on the copies' stream each of them would
  /// leave the copy engine idle until the host has answered.
  [[nodiscard]] StreamPtr signals() const noexcept { return signals_; }
  /// False in a forked child, where CUDA cannot be used.
  [[nodiscard]] bool is_mine() const noexcept;

  /// Runs `calls` where this device is current; what it throws comes out here. Not from within a host function.
  void run(const std::function<void()>& calls) const;
  /// The same for destructors: from within a host function it only begins, elsewhere it has ended on return. Does
  /// nothing in a forked child; what `calls` throws is lost.
  void run_at_end(std::function<void()> calls) const noexcept;
  /// Throws Error(`kind`), with the call's name and CUDA's error, for anything but success.
  void check(Status status, const char* call, ErrorKind kind = ErrorKind::kInternal) const;

  /// Events without timing; given back they are used again, which is right also while a stream waits for one: it waits
  /// for what was recorded when it was told to. give_event() makes no call and may be used anywhere.
  [[nodiscard]] EventPtr take_event();
  void give_event(EventPtr event) noexcept;

  /// Marks the calling thread as one that runs a host function, while it lives.
  class InHostFunction {
   public:
    InHostFunction() noexcept;
    InHostFunction(const InHostFunction&) = delete;
    InHostFunction& operator=(const InHostFunction&) = delete;
    ~InHostFunction();
  };

 private:
  const Runtime* runtime_;
  int index_;
  std::string name_;
  pid_t process_;
  StreamPtr copies_ = nullptr;
  StreamPtr signals_ = nullptr;
  std::mutex mutex_;
  std::vector<EventPtr> events_;
};

}  // namespace feedring::cudart
