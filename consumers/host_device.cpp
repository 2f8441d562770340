// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <feedring/device.hpp>
#include <feedring/error.hpp>
#include <mutex>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "consumers/finish_on_host.hpp"
#include "consumers/host_stream.hpp"
#include "consumers/registered_ranges.hpp"

namespace feedring {
namespace {

constexpr std::align_val_t kAlignment{256};

// Memory "of a device", whichever: like a GPU's it is read when a copy's turn comes. Never destroyed: memory may be let
// go while the program ends.
RegisteredRanges& device_memory() {
  static auto& ranges = *new RegisteredRanges;
  return ranges;
}

std::shared_ptr<std::byte> allocate_on_host(std::size_t bytes) {
  if (bytes == 0) throw Error(ErrorKind::kUsage, "host device: 0 bytes of memory were asked for");
  void* memory = ::operator new(bytes, kAlignment, std::nothrow);
  if (memory == nullptr) {
    throw Error(ErrorKind::kMemory, "host device: no memory for another " + std::to_string(bytes) + " bytes");
  }
  const auto free = [](std::byte* done) {
    device_memory().remove(done);
    ::operator delete(done, kAlignment);
  };
  std::shared_ptr<std::byte> owned(static_cast<std::byte*>(memory), free);
  device_memory().add(owned.get(), bytes);
  return owned;
}

void check(std::span<const CopyPiece> pieces) {
  for (const CopyPiece& piece : pieces) {
    if (piece.bytes != 0 && (piece.to == nullptr || piece.from == nullptr))
      throw Error(ErrorKind::kUsage, "host device: a copy from or to nowhere");
  }
}

const HostEvent& own(const Mark& mark) {
  const auto* event = dynamic_cast<const HostEvent*>(&mark);
  if (event == nullptr) throw Error(ErrorKind::kUsage, "host device: this mark was made by a device of another kind");
  return *event;
}

// What is the same whether a thread does the work or the caller.
class HostBase : public Device {
 public:
  explicit HostBase(std::uint64_t registration_limit) : limit_(registration_limit) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "host"; }
  [[nodiscard]] DeviceTag tag() const noexcept override { return {}; }
  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override { return allocate_on_host(bytes); }

  void register_memory(std::byte* base, std::size_t bytes) override {
    ranges_.add(base, bytes);
    if (ranges_.bytes() <= limit_) return;
    ranges_.remove(base);
    throw Error(ErrorKind::kRefused, "host device: registering " + std::to_string(bytes) + " bytes goes beyond its " +
                                         "limit of " + std::to_string(limit_));
  }
  void unregister_memory(std::byte* base) noexcept override { ranges_.remove(base); }

  [[nodiscard]] std::shared_ptr<const Mark> mark(StreamHandle stream) override {
    if (stream == nullptr) return done_;
    auto event = std::make_shared<HostEvent>();
    static_cast<HostStream*>(stream)->fire(event, {});
    return event;
  }

  void order(StreamHandle stream, const Mark& mark, std::chrono::nanoseconds at_most) override {
    const HostEvent& event = own(mark);
    if (stream != nullptr) {
      static_cast<HostStream*>(stream)->wait_for(event.shared_from_this());
    } else if (!event.wait(at_most)) {
      if (event.state() == HostEvent::State::kAbandoned)
        throw Error(ErrorKind::kInternal, "host device: a copy failed, and what waits for it would wait for ever");
      throw Error(ErrorKind::kDeadline, "host device: a copy did not end within " +
                                            std::to_string(std::chrono::duration<double>(at_most).count()) + " s");
    }
  }

 protected:
  [[nodiscard]] const RegisteredRanges& ranges() const noexcept { return ranges_; }
  [[nodiscard]] const std::shared_ptr<HostEvent>& done() const noexcept { return done_; }

 private:
  std::uint64_t limit_;
  RegisteredRanges ranges_;
  std::shared_ptr<HostEvent> done_ = std::make_shared<HostEvent>(HostEvent::State::kFired);
};

// Everything is done at once, by the caller.
class ImmediateDevice final : public HostBase {
 public:
  using HostBase::HostBase;
  [[nodiscard]] bool copies() const noexcept override { return false; }
  [[nodiscard]] StreamHandle own_stream() const noexcept override { return nullptr; }
  void copy(std::span<const CopyPiece> pieces) override {
    check(pieces);
    for (const CopyPiece& piece : pieces)
      if (piece.bytes != 0) std::memcpy(piece.to, piece.from, piece.bytes);
  }
  void finish(const FinishWork& work) override { finish_on_host(work); }
  [[nodiscard]] std::shared_ptr<Event> record() override { return done(); }
  [[nodiscard]] std::string failure() const override { return {}; }
};

class QueuedDevice final : public HostBase {
 public:
  explicit QueuedDevice(const HostDeviceOptions& options)
      : HostBase(options.registration_limit), options_(options), random_(options.delay_seed) {}

  [[nodiscard]] bool copies() const noexcept override { return options_.copies; }
  [[nodiscard]] StreamHandle own_stream() const noexcept override { return stream_.get(); }

  void copy(std::span<const CopyPiece> pieces) override {
    check(pieces);
    std::vector<bool> read_now(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const CopyPiece& piece = pieces[i];
      read_now[i] = !ranges().contain(piece.from, piece.bytes) && !device_memory().contain(piece.from, piece.bytes);
    }
    const std::lock_guard lock(mutex_);
    stream_->copy(pieces, read_now, delay(), ++copies_ == options_.fail_copy);
  }

  void finish(const FinishWork& work) override {
    const std::lock_guard lock(mutex_);
    stream_->finish(work, delay());
  }

  [[nodiscard]] std::shared_ptr<Event> record() override {
    auto event = std::make_shared<HostEvent>();
    const std::lock_guard lock(mutex_);
    ++recorded_;
    if (options_.lose_every == 0 || recorded_ % options_.lose_every != 0) stream_->fire(event, delay());
    return event;
  }

  [[nodiscard]] std::string failure() const override { return stream_->failure(); }

 private:
  HostStream::Clock::duration delay() {
    const auto most = std::max<std::int64_t>(options_.delay.count(), 0);
    if (options_.delay_seed == 0) return std::chrono::nanoseconds(most);
    return std::chrono::nanoseconds(std::uniform_int_distribution<std::int64_t>(0, most)(random_));
  }

  HostDeviceOptions options_;
  std::mutex mutex_;  // so that works are submitted in the order of their numbers
  std::mt19937_64 random_;
  std::uint64_t recorded_ = 0;
  std::uint64_t copies_ = 0;
  std::unique_ptr<HostStream> stream_ = std::make_unique<HostStream>();
};

}  // namespace

std::shared_ptr<Device> host_device(const HostDeviceOptions& options) {
  const bool at_once =
      options.delay.count() == 0 && options.lose_every == 0 && !options.copies && options.fail_copy == 0;
  if (at_once) return std::make_shared<ImmediateDevice>(options.registration_limit);
  return std::make_shared<QueuedDevice>(options);
}

}  // namespace feedring
