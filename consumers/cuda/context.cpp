// SPDX-License-Identifier: Apache-2.0
#include "consumers/cuda/context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <thread>
#include <utility>

#include "consumers/quiet_thread.hpp"

namespace feedring::cudart {
namespace {

thread_local bool in_host_function = false;

// The program may be recording a CUDA graph on this thread, under which calls that have nothing to do with it would be
// refused.
class Uncaptured {
 public:
  explicit Uncaptured(const Runtime& runtime) : runtime_(runtime) { exchange(); }
  Uncaptured(const Uncaptured&) = delete;
  Uncaptured& operator=(const Uncaptured&) = delete;
  ~Uncaptured() { exchange(); }

 private:
  void exchange() {
    if (runtime_.cudaThreadExchangeStreamCaptureMode(&mode_) != kSuccess) runtime_.cudaGetLastError();
  }
  const Runtime& runtime_;
  int mode_ = kCaptureModeRelaxed;
};

}  // namespace

Context::InHostFunction::InHostFunction() noexcept { in_host_function = true; }
Context::InHostFunction::~InHostFunction() { in_host_function = false; }

Context::Context(const Runtime& runtime, int index)
    : runtime_(&runtime), index_(index), name_(fmt::format("cuda:{}", index)), process_(::getpid()) {
  run([this] {
    constexpr const char* kCall = "cudaStreamCreateWithFlags";
    check(runtime_->cudaStreamCreateWithFlags(&copies_, kStreamNonBlocking), kCall, ErrorKind::kRefused);
    const Status status = runtime_->cudaStreamCreateWithFlags(&signals_, kStreamNonBlocking);
    if (status != kSuccess) runtime_->cudaStreamDestroy(copies_);
    check(status, kCall, ErrorKind::kRefused);
  });
}

Context::~Context() {
  run_at_end([runtime = runtime_, events = std::move(events_), copies = copies_, signals = signals_] {
    for (const EventPtr event : events) runtime->cudaEventDestroy(event);
    runtime->cudaStreamDestroy(copies);
    runtime->cudaStreamDestroy(signals);
    runtime->cudaGetLastError();
  });
}

bool Context::is_mine() const noexcept { return ::getpid() == process_; }

void Context::run(const std::function<void()>& calls) const {
  if (!is_mine()) {
    throw Error(ErrorKind::kForked, name_ + ": a forked child cannot use the device of its parent; start it with exec");
  }
  int current = -1;
  if (runtime_->cudaGetDevice(&current) != kSuccess) runtime_->cudaGetLastError();
  if (current == index_) {
    const Uncaptured uncaptured(*runtime_);
    calls();
    return;
  }
  // Setting the device here and back would make a context on the other one.
  std::exception_ptr thrown;
  start_quietly([&] {
    try {
      check(runtime_->cudaSetDevice(index_), "cudaSetDevice", ErrorKind::kRefused);
      const Uncaptured uncaptured(*runtime_);
      calls();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

void Context::run_at_end(std::function<void()> calls) const noexcept {
  if (!is_mine()) return;
  try {
    if (!in_host_function) {
      run(calls);
      return;
    }
    start_quietly([runtime = runtime_, index = index_, calls = std::move(calls)] {
      if (runtime->cudaSetDevice(index) == kSuccess) {
        const Uncaptured uncaptured(*runtime);
        calls();
      }
      runtime->cudaGetLastError();
    }).detach();
  } catch (const std::exception&) {
    // What could not be given back stays with the process.
  }
}

void Context::check(Status status, const char* call, ErrorKind kind) const {
  if (status != kSuccess) throw Error(kind, fmt::format("{}: {}: {}", name_, call, runtime_->explain(status)));
}

EventPtr Context::take_event() {
  {
    const std::lock_guard lock(mutex_);
    if (!events_.empty()) {
      const EventPtr event = events_.back();
      events_.pop_back();
      return event;
    }
  }
  EventPtr event = nullptr;
  check(runtime_->cudaEventCreateWithFlags(&event, kEventDisableTiming), "cudaEventCreateWithFlags");
  return event;
}

void Context::give_event(EventPtr event) noexcept {
  if (!is_mine()) return;  // the lock may be held for ever there
  try {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  } catch (const std::exception&) {
    // No memory to remember it: it is lost.
  }
}

}  // namespace feedring::cudart
