// SPDX-License-Identifier: Apache-2.0
#include "consumers/host_stream.hpp"

#include <unistd.h>

#include <cstring>
#include <feedring/error.hpp>
#include <utility>

#include "consumers/finish_on_host.hpp"
#include "consumers/quiet_thread.hpp"

namespace feedring {
namespace {

constexpr std::chrono::milliseconds kSlice{5};
constexpr std::chrono::seconds kPatience{1};  // of a stream that closes with a wait in it, for that event
constexpr const char* kFailed = "host device: a copy failed, and nothing that was submitted after it will happen";

}  // namespace

bool HostEvent::wait(std::chrono::nanoseconds at_most) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [this] { return state() != State::kPending; });
  return fired();
}

void HostEvent::then(std::function<void()> action) {
  {
    const std::lock_guard lock(mutex_);
    if (state() == State::kAbandoned) return;
    if (state() == State::kPending) {
      actions_.push_back(std::move(action));
      return;
    }
  }
  action();
}

void HostEvent::fire() {
  std::vector<std::function<void()>> actions;
  {
    const std::lock_guard lock(mutex_);
    state_.store(State::kFired, std::memory_order_release);
    actions.swap(actions_);
  }
  changed_.notify_all();
  for (auto& action : actions) action();
}

void HostEvent::abandon() {
  std::vector<std::function<void()>> actions;
  {
    const std::lock_guard lock(mutex_);
    state_.store(State::kAbandoned, std::memory_order_release);
    actions.swap(actions_);
  }
  changed_.notify_all();
}

struct HostStream::Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> works;
  bool closing = false;
  bool failed = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return closing || !works.empty(); });
      if (works.empty()) return;
      const Clock::time_point due = works.front().due;
      if (Clock::now() < due) {
        changed.wait_until(lock, due);
        continue;
      }
      Work work = std::move(works.front());
      works.pop_front();
      lock.unlock();
      const bool done = perform(work);
      lock.lock();
      if (!done) fail(lock);
    }
  }

  bool perform(Work& work) {
    if (work.fails) {
      if (work.fires) work.fires->abandon();
      return false;
    }
    for (const Bytes& copy : work.copies)
      std::memcpy(copy.piece.to, copy.staged.empty() ? copy.piece.from : copy.staged.data(), copy.piece.bytes);
    if (work.finishes) finish_on_host(*work.finishes);
    if (work.fires) work.fires->fire();
    return !work.waits_for || waited(*work.waits_for);
  }

  bool waited(const HostEvent& event) {
    for (Clock::time_point since_closing = Clock::time_point::max();;) {
      if (event.wait(kSlice)) return true;
      if (event.state() == HostEvent::State::kAbandoned) return false;
      const std::lock_guard lock(mutex);
      if (!closing) continue;
      if (since_closing == Clock::time_point::max()) since_closing = Clock::now();
      if (Clock::now() - since_closing > kPatience) return false;
    }
  }

  void fail(std::unique_lock<std::mutex>& lock) {
    failed = true;
    std::deque<Work> rest;
    rest.swap(works);
    lock.unlock();
    for (const Work& work : rest)
      if (work.fires) work.fires->abandon();
    rest.clear();
    lock.lock();
  }
};

HostStream::HostStream()
    : process_(::getpid()),
      queue_(std::make_shared<Queue>()),
      thread_(new std::thread(start_quietly([queue = queue_] { queue->run(); }))) {}

HostStream::~HostStream() {
  // In a forked child the thread does not exist and the mutex may be held for ever: leave both alone.
  if (::getpid() != process_) return;
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->closing = true;
  }
  queue_->changed.notify_all();
  if (thread_->get_id() == std::this_thread::get_id()) {
    thread_->detach();  // an action held the last reference
  } else {
    thread_->join();
  }
  delete thread_;
}

void HostStream::submit(Work work) {
  {
    const std::lock_guard lock(queue_->mutex);
    if (queue_->failed) throw Error(ErrorKind::kInternal, kFailed);
    queue_->works.push_back(std::move(work));
  }
  queue_->changed.notify_all();
}

void HostStream::copy(std::span<const CopyPiece> pieces, const std::vector<bool>& read_now, Clock::duration delay,
                      bool fails) {
  Work work{.due = Clock::now() + delay, .fails = fails};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Bytes& bytes = work.copies.emplace_back(Bytes{pieces[i], {}});
    if (read_now[i]) bytes.staged.assign(pieces[i].from, pieces[i].from + pieces[i].bytes);
  }
  submit(std::move(work));
}

void HostStream::finish(const FinishWork& work, Clock::duration delay) {
  submit({.due = Clock::now() + delay, .finishes = work});
}

void HostStream::fire(std::shared_ptr<HostEvent> event, Clock::duration delay) {
  submit({.due = Clock::now() + delay, .fires = std::move(event)});
}

void HostStream::wait_for(std::shared_ptr<const HostEvent> event) {
  submit({.due = Clock::now(), .waits_for = std::move(event)});
}

std::string HostStream::failure() const {
  const std::lock_guard lock(queue_->mutex);
  return queue_->failed ? kFailed : "";
}

}  // namespace feedring
