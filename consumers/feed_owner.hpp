// SPDX-License-Identifier: Apache-2.0
// The owner's side of the ring's law, over time: offer what the cursor wants, wait for the next batch, lease it. One
// thread of the attaching process at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <feedring/feed.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "consumers/attach.hpp"
#include "consumers/cursor.hpp"
#include "consumers/device_copies.hpp"
#include "consumers/failures.hpp"
#include "consumers/feed_info.hpp"
#include "consumers/ring_memory.hpp"
#include "consumers/slot_table.hpp"

namespace feedring {

class FeedOwner {
 public:
  /// Takes over what a predecessor left, or offers the first batches of a ring that nobody used before. Throws
  /// Error(kRefused) where ring and description disagree, and what Cursor throws.
  FeedOwner(Attachment attachment, std::shared_ptr<Device> device, std::chrono::milliseconds deadline,
            std::function<StreamHandle()> stream = {});

  [[nodiscard]] std::optional<Batch> next(std::chrono::milliseconds deadline);
  void start_epoch();
  void set_epoch(std::uint64_t epoch);
  void seek(std::uint64_t epoch, std::uint64_t step);
  void load_state(const std::string& state);

  [[nodiscard]] const Cursor& cursor() const noexcept { return cursor_; }
  [[nodiscard]] const FeedInfo& info() const noexcept { return info_; }
  [[nodiscard]] const RingMemory& memory() const noexcept { return *memory_; }
  [[nodiscard]] std::chrono::milliseconds deadline() const noexcept { return deadline_; }
  [[nodiscard]] FeedStats stats() const;

 private:
  class Entry;  // one thread of the attaching process is inside

  /// After the cursor moved.
  void realign();
  [[nodiscard]] std::optional<std::uint32_t> ready_slot() const;
  /// The slot of the next batch, all its tasks done.
  [[nodiscard]] std::uint32_t wait_for_next(std::chrono::milliseconds deadline);
  [[nodiscard]] std::uint32_t sleep_until_ready(std::chrono::milliseconds deadline);
  void throw_if_broken() const;
  void throw_if_device_failed() const;
  [[noreturn]] void throw_gone() const;
  [[noreturn]] void throw_deadline(std::chrono::milliseconds deadline) const;
  /// The batch in a ready slot; nullopt where the slot had to be offered again.
  [[nodiscard]] std::optional<Batch> deliver(std::uint32_t slot, std::chrono::milliseconds deadline);
  /// Lets the device copy the batch after this one, if that is ready, while the program uses this one.
  void copy_ahead() noexcept;
  /// Throws Error(kData) where a sample was raised or the budget is spent.
  void count_failures(const BatchContent& batch, const RowSummary& rows);
  /// Faults the payload of a slot in, one that was not yet; false: there is none.
  bool populate_one() noexcept;
  void populate(std::uint32_t slot) noexcept;

  FeedInfo info_;
  UniqueFd supervisor_;
  std::shared_ptr<RingMemory> memory_;
  std::chrono::milliseconds deadline_;
  Cursor cursor_;
  SlotTable table_;
  std::optional<DeviceCopies> copies_;  // where the device has memory of its own
  bool aligned_ = false;  // false after a restart, until the user said where to go on or asked for a batch
  bool gone_ = false;     // the supervisor was seen dead
  std::vector<bool> populated_;
  std::uint64_t failed_epoch_ = 0;  // epoch that failed_in_epoch_ counts
  std::uint64_t failed_in_epoch_ = 0;
  FeedStats stats_;  // but for the futex calls, which releasing threads make too
  std::uint64_t futex_calls_before_ = 0;
  std::atomic<bool> inside_ = false;
};

}  // namespace feedring
