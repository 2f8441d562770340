// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <feedring/device.hpp>
#include <feedring/error.hpp>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace feedring {
namespace {

using Clock = std::chrono::steady_clock;

// Registered ranges, as a real device keeps them.
class Registry {
 public:
  void add(std::byte* base, std::size_t bytes) {
    if (base == nullptr || bytes == 0) throw Error(ErrorKind::kUsage, "an empty range of memory cannot be registered");
    const std::lock_guard lock(mutex_);
    const auto after = ranges_.lower_bound(base);
    const bool hits_next = after != ranges_.end() && after->first < base + bytes;
    const bool hits_previous = after != ranges_.begin() && std::prev(after)->first + std::prev(after)->second > base;
    if (hits_next || hits_previous) {
      throw Error(ErrorKind::kUsage, "this memory, or a part of it, is already registered with the device");
    }
    ranges_.emplace(base, bytes);
  }
  void remove(std::byte* base) noexcept {
    const std::lock_guard lock(mutex_);
    ranges_.erase(base);
  }

 private:
  std::mutex mutex_;
  std::map<std::byte*, std::size_t> ranges_;
};

class FiredEvent final : public Event {
 public:
  [[nodiscard]] bool fired() const noexcept override { return true; }
  [[nodiscard]] bool wait(std::chrono::nanoseconds) const override { return true; }
  void then(std::function<void()> action) override { action(); }
};

class ImmediateDevice final : public Device {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "host"; }
  void register_memory(std::byte* base, std::size_t bytes) override { registry_.add(base, bytes); }
  void unregister_memory(std::byte* base) noexcept override { registry_.remove(base); }
  [[nodiscard]] std::shared_ptr<Event> record() override { return fired_; }

 private:
  Registry registry_;
  std::shared_ptr<Event> fired_ = std::make_shared<FiredEvent>();
};

class QueuedEvent final : public Event {
 public:
  [[nodiscard]] bool fired() const noexcept override { return fired_.load(std::memory_order_acquire); }
  [[nodiscard]] bool wait(std::chrono::nanoseconds at_most) const override {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, at_most, [this] { return fired(); });
  }
  void then(std::function<void()> action) override {
    {
      const std::lock_guard lock(mutex_);
      if (!fired()) {
        actions_.push_back(std::move(action));
        return;
      }
    }
    action();
  }
  void fire() {
    std::vector<std::function<void()>> actions;
    {
      const std::lock_guard lock(mutex_);
      fired_.store(true, std::memory_order_release);
      actions.swap(actions_);
    }
    changed_.notify_all();
    for (auto& action : actions) action();
  }

 private:
  std::atomic<bool> fired_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::function<void()>> actions_;
};

/// What the device and its thread share; the thread may be the last to hold it.
struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<Clock::time_point, std::shared_ptr<QueuedEvent>>> events;
  bool closing = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return closing || !events.empty(); });
      if (events.empty()) return;
      const auto [due, event] = events.front();
      if (changed.wait_until(lock, due, [due = due] { return Clock::now() >= due; })) {
        events.pop_front();
        lock.unlock();
        event->fire();
        lock.lock();
      }
    }
  }
};

class DelayedDevice final : public Device {
 public:
  explicit DelayedDevice(const HostDeviceOptions& options)
      : options_(options), thread_(new std::thread([queue = queue_] { queue->run(); })) {}
  DelayedDevice(const DelayedDevice&) = delete;
  DelayedDevice& operator=(const DelayedDevice&) = delete;
  ~DelayedDevice() override {
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

  [[nodiscard]] std::string_view name() const noexcept override { return "host"; }
  void register_memory(std::byte* base, std::size_t bytes) override { registry_.add(base, bytes); }
  void unregister_memory(std::byte* base) noexcept override { registry_.remove(base); }
  [[nodiscard]] std::shared_ptr<Event> record() override {
    auto event = std::make_shared<QueuedEvent>();
    {
      const std::lock_guard lock(queue_->mutex);
      ++recorded_;
      if (options_.lose_every != 0 && recorded_ % options_.lose_every == 0) return event;
      queue_->events.emplace_back(Clock::now() + options_.delay, event);
    }
    queue_->changed.notify_all();
    return event;
  }

 private:
  HostDeviceOptions options_;
  pid_t process_ = ::getpid();
  Registry registry_;
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
  std::uint64_t recorded_ = 0;
  std::thread* thread_;  // not a member object: in a forked child it can be neither joined nor detached
};

}  // namespace

std::shared_ptr<Device> host_device(const HostDeviceOptions& options) {
  if (options.delay.count() == 0 && options.lose_every == 0) return std::make_shared<ImmediateDevice>();
  return std::make_shared<DelayedDevice>(options);
}

}  // namespace feedring
