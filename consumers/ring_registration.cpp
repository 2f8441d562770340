// SPDX-License-Identifier: Apache-2.0
#include "consumers/ring_registration.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "consumers/quiet_thread.hpp"

namespace feedring {

RingRegistration::RingRegistration(std::shared_ptr<Device> device, std::span<std::byte> memory, std::string what)
    : device_(std::move(device)),
      memory_(memory),
      thread_(start_quietly([this, what = std::move(what)] { run(what); })) {}

void RingRegistration::wait() noexcept {
  if (thread_.joinable()) thread_.join();
}

RingRegistration::~RingRegistration() {
  wait();
  if (done()) device_->unregister_memory(memory_.data());
}

void RingRegistration::run(const std::string& what) {
  try {
    device_->register_memory(memory_.data(), memory_.size());
    state_.store(State::kDone, std::memory_order_release);
  } catch (const std::exception& error) {
    note_ = fmt::format(
        "{}: its ring of {:.1f} MiB could not be pinned: {}; every batch goes through staging memory, which is "
        "right, but slower and not beside the program; raise the limit of locked memory (ulimit -l, the container's "
        "memlock), or lower `slots`",
        what, static_cast<double>(memory_.size()) / (1 << 20), error.what());
    std::fputs(("feedring: " + note_ + "\n").c_str(), stderr);
    state_.store(State::kRefused, std::memory_order_release);
  }
}

std::string RingRegistration::note() const {
  return state_.load(std::memory_order_acquire) == State::kRefused ? note_ : std::string();
}

}  // namespace feedring
