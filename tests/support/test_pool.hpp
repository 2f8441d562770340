// SPDX-License-Identifier: Apache-2.0
// A pool for tests of the rank's side: a real ring and pool segment in memfds, a supervisor thread that answers attach
// messages on a real socket, and producer threads that follow the ring's law and write a pattern per ordinal.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <feedring/feed.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/control.hpp"
#include "runtime/event_count.hpp"
#include "runtime/message.hpp"
#include "runtime/process.hpp"
#include "runtime/ring.hpp"
#include "runtime/ring_segment.hpp"
#include "runtime/schedule.hpp"

namespace feedring::test {

inline constexpr std::uint32_t kSide = 2;  // images of 2 x 2

/// The byte that fills the image of an ordinal.
constexpr std::uint8_t pattern(std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal) {
  return static_cast<std::uint8_t>(1 + (seed * 89 + epoch * 31 + ordinal * 7) % 251);
}

/// What a pool serves; the defaults are a small feed of one rank.
struct PoolSetting {
  std::uint64_t samples = 23;
  std::uint32_t batch = 4;
  std::uint32_t slots = 3;
  std::uint32_t tasks = 2;
  std::uint64_t seed = 5;
  std::string remainder = "pad";
  bool repeat = true;
  bool auto_epoch = true;
  std::string shard = "rank";
  std::string on_error = "raise";
  double error_budget = 0.01;
};

/// How producers behave; may change while they run.
struct Behaviour {
  std::set<std::uint64_t> bad;                 ///< ordinals whose sample fails; fixed before start()
  std::atomic<bool> paused = false;            ///< take nothing new
  std::atomic<std::uint64_t> hang_at = ~0ULL;  ///< the producer that reaches this ordinal stops there
  std::atomic<std::uint32_t> row_us = 0;       ///< time for a row
  std::atomic<std::uint64_t> rows_written = 0;
};

class TestPool {
 public:
  using PoolHeader = contract::PoolHeader<std::atomic>;

  explicit TestPool(const PoolSetting& with = {}) : setting(with) {
    const auto shape = lay_out_ring(setting.slots, setting.tasks, setting.batch,
                                    image_feed_tensors(kSide, kSide, Dtype::kUint8, Layout::kNhwc));
    ring_fd = create_memfd("ring", shape.bytes);
    seal_size(ring_fd.get());
    ring_map_ = Mapping(ring_fd.get(), Mapping::Access::kReadWrite);
    create_ring(ring_map_.data(), shape);
    ring = Ring<>(ring_map_.data(), shape);

    pool_fd = create_memfd("pool", sizeof(PoolHeader));
    seal_size(pool_fd.get());
    pool_map_ = Mapping(pool_fd.get(), Mapping::Access::kReadWrite);
    pool = reinterpret_cast<PoolHeader*>(pool_map_.data());
    pool->magic = contract::kPoolMagic;
    pool->bytes = sizeof(PoolHeader);
    pool->stamp.store(contract::fingerprint());

    supervisor = open_pidfd(::getpid());
    static std::atomic<int> number = 0;
    address = "feedring-test/" + std::to_string(::getpid()) + "/" + std::to_string(++number);
    listener_ = listen_at(address);
    reply = default_reply();
    desk_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  TestPool(const TestPool&) = delete;
  TestPool& operator=(const TestPool&) = delete;
  ~TestPool() { stop(); }

  /// Starts `count` producers on the pool's own mapping, or on another one of the same ring: the race detector takes
  /// two mappings for strangers.
  void start(std::uint32_t count = 2) { start(count, ring, *pool); }
  void start(std::uint32_t count, const Ring<>& on, PoolHeader& with) {
    for (std::uint32_t p = 0; p < count; ++p) {
      const auto claimant = static_cast<contract::Claimant>(producers_.size() + 1);
      producers_.emplace_back(
          [this, on, &with, claimant](const std::stop_token& stop) { produce(stop, on, with, claimant); });
    }
    work_ = &with.work;
  }
  void stop() {
    behaviour.hang_at = ~0ULL;
    behaviour.paused = false;
    for (auto& producer : producers_) producer.request_stop();
    if (work_ != nullptr) EventCount(*work_).notify_all();
    producers_.clear();
    work_ = nullptr;
  }

  [[nodiscard]] FeedOptions options(std::uint32_t rank = 0, std::uint32_t world = 1) const {
    FeedOptions options;
    options.pool = address;
    options.rank = rank;
    options.world_size = world;
    options.local_rank = rank;
    options.deadline = std::chrono::seconds(20);
    options.attach_deadline = std::chrono::seconds(5);
    return options;
  }

  /// Waits until the slot of a sequence is offered and all its tasks are done.
  void wait_ready(std::uint64_t sequence) const {
    for (;;) {
      for (std::uint32_t slot = 0; slot < ring.shape().slots; ++slot) {
        const auto word = ring.slot(slot);
        if (word.phase == contract::Phase::kOffered && ring.full(word) && ring.ticket(slot).sequence == sequence)
          return;
      }
      std::this_thread::yield();
    }
  }
  [[nodiscard]] std::uint32_t count(contract::Phase phase) const {
    std::uint32_t count = 0;
    for (std::uint32_t slot = 0; slot < ring.shape().slots; ++slot) count += ring.slot(slot).phase == phase ? 1 : 0;
    return count;
  }
  [[nodiscard]] std::uint64_t plan() const { return ring.header().plan.load(); }

  const PoolSetting setting;
  Behaviour behaviour;
  UniqueFd ring_fd, pool_fd, supervisor;  // what is handed to ranks
  Ring<> ring;
  PoolHeader* pool = nullptr;
  PoolAddress address;
  nlohmann::json reply;
  std::atomic<bool> send_descriptors = true;
  nlohmann::json last_request;

 private:
  [[nodiscard]] nlohmann::json default_reply() const {
    return {{"ok", true},
            {"feed",
             {{"batch_size", setting.batch},
              {"slots", setting.slots},
              {"seed", setting.seed},
              {"remainder", setting.remainder},
              {"on_error", setting.on_error},
              {"error_budget", setting.error_budget},
              {"repeat", setting.repeat},
              {"auto_epoch", setting.auto_epoch},
              {"shard", setting.shard}}},
            {"samples", setting.samples},
            {"ordinals", setting.samples},
            {"classes", 7},
            {"digest", "d1"},
            {"spec_hash", "5e"},
            {"restarted", false}};
  }

  void serve(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { (void)connect_to(address); });
    while (!stop.stop_requested()) {
      const UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket || stop.stop_requested()) continue;
      try {
        last_request = receive_message(socket.get(), 5000)->body;
        std::vector<int> descriptors;
        if (send_descriptors) descriptors = {ring_fd.get(), pool_fd.get(), supervisor.get()};
        send_message(socket.get(), reply, descriptors);
      } catch (const Error&) {
        continue;  // the rank went away
      }
    }
  }

  void produce(const std::stop_token& stop, const Ring<>& on, PoolHeader& with, contract::Claimant claimant) {
    while (!stop.stop_requested()) {
      if (!behaviour.paused && work(stop, on, with, claimant)) continue;
      EventCount(with.work).wait(claimant - 1U, 5'000'000, [&] { return stop.stop_requested(); });
    }
  }

  /// Does one task of the offered slot with the lowest sequence.
  bool work(const std::stop_token& stop, const Ring<>& on, PoolHeader& with, contract::Claimant claimant) {
    std::optional<std::pair<std::uint64_t, std::uint32_t>> best;
    for (std::uint32_t slot = 0; slot < on.shape().slots; ++slot) {
      const auto word = on.slot(slot);
      if (word.phase != contract::Phase::kOffered || on.full(word)) continue;
      for (std::uint32_t task = 0; task < on.shape().tasks; ++task) {
        if (on.open_hint(slot, task, word) && (!best || on.sequence_hint(slot) < best->first)) {
          best = {on.sequence_hint(slot), slot};
        }
      }
    }
    if (!best) return false;
    const auto word = on.slot(best->second);
    for (std::uint32_t task = 0; task < on.shape().tasks; ++task) {
      if (!on.claim(best->second, task, claimant, word)) continue;
      fill(stop, on, with, claimant, best->second, task);
      if (on.finish(best->second, task, word.turn)) EventCount(on.header().ready).notify_one();
      EventCount(with.work).notify_one();
      return true;
    }
    return true;
  }

  void fill(const std::stop_token& stop, const Ring<>& on, PoolHeader& with, contract::Claimant claimant,
            std::uint32_t slot, std::uint32_t task) {
    const Want want = on.ticket(slot);
    on.failure(slot, task).length = 0;
    auto& hand = with.producer[claimant - 1].in_hand;
    const auto [begin, end] = contract::rows_of_task(task, on.shape().tasks, want.rows);
    for (std::uint32_t row = begin; row < end; ++row) {
      if (on.stale(want.plan)) {
        put(on, slot, "status", row, static_cast<std::uint8_t>(contract::RowStatus::kCancelled));
        continue;
      }
      const std::uint64_t ordinal = ordinal_of_row({want.first, want.valid}, row, setting.samples);
      hand.sample.store(ordinal, std::memory_order_relaxed);
      hand.phase.store(static_cast<std::uint32_t>(contract::WorkPhase::kDecode), std::memory_order_relaxed);
      hand.since_ns.store(monotonic_ns(), std::memory_order_release);
      while (behaviour.hang_at == ordinal && !on.stale(want.plan) && !stop.stop_requested()) std::this_thread::yield();
      if (behaviour.row_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(behaviour.row_us));
      write_row(on, slot, task, row, want, ordinal);
      hand.since_ns.store(0, std::memory_order_relaxed);
      ++behaviour.rows_written;
    }
  }

  void write_row(const Ring<>& on, std::uint32_t slot, std::uint32_t task, std::uint32_t row, const Want& want,
                 std::uint64_t ordinal) {
    using contract::RowStatus;
    const auto* images = find_tensor(on.shape(), "images");
    RowStatus status = RowStatus::kOk;
    if (behaviour.bad.contains(ordinal)) {
      status = setting.on_error == "raise"  ? RowStatus::kFailed
               : setting.on_error == "zero" ? RowStatus::kZeroed
                                            : RowStatus::kReplaced;
      const std::string text = "photos/" + std::to_string(ordinal) + ".jpg: truncated";
      auto& record = on.failure(slot, task);
      if (status == RowStatus::kFailed && record.length == 0) {
        record.row = row;
        record.length = static_cast<std::uint32_t>(text.size());
        std::memcpy(record.text, text.data(), text.size());
      }
    }
    const std::uint8_t byte = status == RowStatus::kOk ? pattern(want.seed, want.epoch, ordinal) : 0;
    std::memset(on.payload(slot) + images->offset + row * images->row_bytes, byte, images->row_bytes);
    put(on, slot, "labels", row, static_cast<std::int64_t>(ordinal % 7));
    put(on, slot, "sample_ids", row, static_cast<std::int64_t>(ordinal));
    put(on, slot, "valid", row, static_cast<std::uint8_t>(row < want.valid && status == RowStatus::kOk));
    put(on, slot, "status", row, static_cast<std::uint8_t>(status));
  }

  template <class T>
  static void put(const Ring<>& on, std::uint32_t slot, const char* tensor, std::uint32_t row, T value) {
    const auto* entry = find_tensor(on.shape(), tensor);
    std::memcpy(on.payload(slot) + entry->offset + row * entry->row_bytes, &value, sizeof value);
  }

  Mapping ring_map_;
  Mapping pool_map_;
  UniqueFd listener_;
  contract::Event<std::atomic>* work_ = nullptr;
  std::vector<std::jthread> producers_;
  std::jthread desk_;  // last: it uses everything above
};

/// Every row of a batch is what the plan says. Empty: it is.
inline std::string wrong_in(const Batch& batch, std::uint64_t seed, std::uint64_t samples) {
  const TensorView images = batch.images();
  const auto bytes = images.as<std::uint8_t>();
  const std::uint64_t row_bytes = images.bytes / batch.rows();
  for (std::uint32_t row = 0; row < batch.rows(); ++row) {
    const std::uint64_t ordinal = ordinal_of_row({batch.first_ordinal(), batch.valid_rows()}, row, samples);
    const std::string where = "row " + std::to_string(row) + " of epoch " + std::to_string(batch.epoch()) + ", step " +
                              std::to_string(batch.step());
    if (batch.sample_ids()[row] != static_cast<std::int64_t>(ordinal)) return where + ": sample";
    if (batch.labels()[row] != static_cast<std::int64_t>(ordinal % 7)) return where + ": label";
    if (batch.valid()[row] != (row < batch.valid_rows() ? 1 : 0)) return where + ": valid";
    for (std::uint64_t i = 0; i < row_bytes; ++i)
      if (bytes[row * row_bytes + i] != pattern(seed, batch.epoch(), ordinal)) return where + ": pixels";
  }
  return {};
}

/// The Error that `action` throws; "nothing was thrown" where it throws none.
inline Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::kInternal, "nothing was thrown"};
}

}  // namespace feedring::test
