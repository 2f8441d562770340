// SPDX-License-Identifier: Apache-2.0
// The stream of the asynchronous host device: a thread that works through copies, events and waits, each a while after
// it was submitted. It keeps the rules of a CUDA stream, failure included: what was submitted behind a failed copy
// never happens.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <feedring/device.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace feedring {

class HostEvent final : public Event, public std::enable_shared_from_this<HostEvent> {
 public:
  enum class State : std::uint8_t { kPending, kFired, kAbandoned };

  explicit HostEvent(State state = State::kPending) : state_(state) {}
  [[nodiscard]] State state() const noexcept { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] bool fired() const noexcept override { return state() == State::kFired; }
  /// Ends early where the event was abandoned.
  [[nodiscard]] bool wait(std::chrono::nanoseconds at_most) const override;
  void then(std::function<void()> action) override;

  void fire();
  /// It will never fire: its stream failed.
  void abandon();

 private:
  std::atomic<State> state_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::function<void()>> actions_;
};

class HostStream {
 public:
  using Clock = std::chrono::steady_clock;

  HostStream();
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;
  /// Works through what is left, but for what waits for an event that does not come. In a forked child: does nothing.
  ~HostStream();

  /// All four throw Error(kInternal) once the stream has failed.
  void copy(std::span<const CopyPiece> pieces, const std::vector<bool>& read_now, Clock::duration delay, bool fails);
  void finish(const FinishWork& work, Clock::duration delay);
  void fire(std::shared_ptr<HostEvent> event, Clock::duration delay);
  void wait_for(std::shared_ptr<const HostEvent> event);
  /// Nothing submitted until now and nothing later will happen.
  [[nodiscard]] std::string failure() const;

 private:
  struct Bytes {
    CopyPiece piece;
    std::vector<std::byte> staged;  // what was read at submission
  };
  struct Work {
    Clock::time_point due;
    std::vector<Bytes> copies = {};
    bool fails = false;
    std::optional<FinishWork> finishes = std::nullopt;
    std::shared_ptr<HostEvent> fires = nullptr;
    std::shared_ptr<const HostEvent> waits_for = nullptr;
  };
  struct Queue;  // shared with the thread, which may be the last to hold it

  void submit(Work work);

  pid_t process_;
  std::shared_ptr<Queue> queue_;
  std::thread* thread_;  // not a member object: in a forked child it can be neither joined nor detached
};

}  // namespace feedring
