// SPDX-License-Identifier: Apache-2.0
// The owner's own book of its slots: what it offered where, what nobody wants any more, what is lent to the user. The
// ring's words say how far the producers are; which slot holds what is read from here, because a peer can write there.
//
// The wanted sequences are next() … next() + slots - 1, and next() is the cursor's want(0). A ticket outside of that,
// or with other content, is stale: its open tasks are cancelled, and the slot is dropped once the claimed ones are
// finished.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "consumers/cursor.hpp"
#include "consumers/ring_memory.hpp"

namespace feedring {

/// Memory is RingMemory; the model checker runs this text over memory of its own (tests/model).
template <class Memory>
class BasicSlotTable {
 public:
  explicit BasicSlotTable(std::shared_ptr<Memory> memory);

  /// True where nobody has ever used the ring.
  [[nodiscard]] bool pristine() const noexcept;
  /// A restarted rank, its predecessor confirmed dead: takes the ring over and keeps what was offered under the current
  /// plan until align() finds whether it fits. Throws Error(kRefused) where the ring holds impossible numbers.
  void adopt();

  /// After the cursor moved in any other way than by a delivery: finds the sequence of its next batch. Where the ring
  /// holds that batch (or, after a gap, one of those behind it), the ring goes on there under the same plan; else the
  /// plan id is raised, and everything offered is stale. No effect where nothing changed.
  void align(const Cursor& cursor);

  /// Takes back what was released or dropped, then offers what is missing, lowest sequence first, and wakes a producer.
  /// True where it changed anything.
  bool tend(const Cursor& cursor);

  /// The slot that was offered for the next batch.
  [[nodiscard]] std::optional<std::uint32_t> next_slot() const noexcept;
  /// All tasks of an offered slot are done. Throws Error(kInternal) where the slot's word is none that the law allows.
  [[nodiscard]] bool ready(std::uint32_t slot) const;
  /// Whether tend() would take back a slot.
  [[nodiscard]] bool something_to_take_back() const noexcept;

  /// Leases the ready slot of the next batch for the user.
  void lend(std::uint32_t slot);
  /// The lent batch counts as delivered: want(0) is now one further.
  void advance() noexcept;
  /// Takes a ready slot back, so that its batch is offered again: a predecessor had cancelled parts of it.
  void reoffer(std::uint32_t slot);
  [[nodiscard]] bool adopted(std::uint32_t slot) const noexcept { return entries_[slot].adopted; }

  /// The next batch waits for a slot, and no slot can come free but by the user's hand.
  [[nodiscard]] bool user_holds_all() const noexcept;
  /// The next batch waits for a slot, and only batches behind it occupy those that the user does not hold.
  [[nodiscard]] bool blocked_by_later() const noexcept;
  /// Gives everything offered up, as a seek does.
  void raise_plan();

  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }

 private:
  enum class Use : std::uint8_t { kFree, kOffered, kStale, kLent };
  struct Entry {
    Use use = Use::kFree;
    bool adopted = false;
    std::uint32_t turn = 0;
    Want want;
  };

  [[nodiscard]] bool fits(const Entry& entry, const Cursor& cursor, std::uint64_t next) const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> best_alignment(const Cursor& cursor) const;
  [[nodiscard]] std::optional<std::uint32_t> slot_of(std::uint64_t sequence) const noexcept;
  [[nodiscard]] bool can_take_back(std::uint32_t slot) const noexcept;
  bool offer_missing(const Cursor& cursor);
  void offer(std::uint32_t slot, const Wanted& wanted, std::uint64_t sequence, std::uint64_t seed);
  void retire(std::uint32_t slot);
  void go_to(std::uint64_t next) noexcept;
  [[nodiscard]] std::uint32_t slots() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
  [[nodiscard]] const auto& ring() const noexcept { return memory_->ring(); }

  std::shared_ptr<Memory> memory_;
  std::vector<Entry> entries_;
  std::vector<bool> offered_;        // scratch of offer_missing()
  std::vector<std::uint32_t> free_;  // likewise
  std::uint64_t next_ = 0;           // sequence of the cursor's want(0)
  std::uint64_t unused_ = 0;         // above all sequences ever offered
  std::uint64_t plan_ = 0;
};

extern template class BasicSlotTable<RingMemory>;
using SlotTable = BasicSlotTable<RingMemory>;

}  // namespace feedring
