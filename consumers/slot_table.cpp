// SPDX-License-Identifier: Apache-2.0
#include "consumers/slot_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <feedring/error.hpp>
#include <tuple>
#include <utility>

#include "runtime/event_count.hpp"

namespace feedring {
namespace {

using contract::Phase;
using contract::SlotWord;

// No ring counts this far; keeps sums of what a peer wrote from wrapping.
constexpr std::uint64_t kImpossible = std::uint64_t{1} << 62;

Want to_want(const Wanted& wanted, std::uint64_t sequence, std::uint64_t plan, std::uint64_t seed, std::uint32_t rows) {
  return {sequence, plan, seed, wanted.epoch, wanted.share.first, wanted.share.valid, rows};
}

}  // namespace

template <class Memory>
BasicSlotTable<Memory>::BasicSlotTable(std::shared_ptr<Memory> memory)
    : memory_(std::move(memory)), entries_(memory_->ring().shape().slots) {}

template <class Memory>
bool BasicSlotTable<Memory>::pristine() const noexcept {
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (ring().slot(slot) != SlotWord{}) return false;
  }
  return ring().header().plan.load(std::memory_order_relaxed) == 0;
}

template <class Memory>
void BasicSlotTable<Memory>::adopt() {
  ring().take_over();
  plan_ = ring().header().plan.load(std::memory_order_relaxed);
  bool possible = plan_ < kImpossible;
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    const SlotWord word = ring().slot(slot);
    if (word.phase == Phase::kIdle) continue;
    const Want want = ring().ticket(slot);
    possible = possible && word.phase == Phase::kOffered && want.sequence < kImpossible && want.plan <= plan_;
    entries_[slot] = {Use::kOffered, true, word.turn, want};
    unused_ = std::max(unused_, want.sequence + 1);
  }
  if (!possible) {
    throw Error(ErrorKind::kRefused,
                fmt::format("{}: the ring that a former process of this rank left holds impossible "
                            "numbers; start the pool anew",
                            memory_->what()));
  }
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (entries_[slot].use == Use::kOffered && entries_[slot].want.plan != plan_) retire(slot);
  }
  // The predecessor may have died between an offer and its wake-up.
  EventCount(memory_->pool().work).notify_all();
}

template <class Memory>
bool BasicSlotTable<Memory>::fits(const Entry& entry, const Cursor& cursor, std::uint64_t next) const noexcept {
  const std::uint64_t sequence = entry.want.sequence;
  if (entry.use != Use::kOffered || sequence < next || sequence - next >= slots()) return false;
  const auto wanted = cursor.want(sequence - next);
  return wanted && entry.want == to_want(*wanted, sequence, plan_, cursor.seed(), ring().shape().rows);
}

// Of all ways to lay the cursor's wants over what is offered: one where the next batch is there before one where it is
// not, then the one that keeps most, then the lowest.
template <class Memory>
std::optional<std::uint64_t> BasicSlotTable<Memory>::best_alignment(const Cursor& cursor) const {
  std::optional<std::uint64_t> best;
  std::pair<bool, std::uint32_t> best_merit;
  for (const Entry& entry : entries_) {
    for (std::uint64_t ahead = 0; ahead < slots() && ahead <= entry.want.sequence; ++ahead) {
      const std::uint64_t next = entry.want.sequence - ahead;
      if (!fits(entry, cursor, next)) continue;
      std::pair<bool, std::uint32_t> merit{ahead == 0, 0};
      for (const Entry& other : entries_) {
        if (!fits(other, cursor, next)) continue;
        ++merit.second;
        merit.first = merit.first || other.want.sequence == next;
      }
      if (!best || merit > best_merit || (merit == best_merit && next < *best)) {
        best = next;
        best_merit = merit;
      }
    }
  }
  return best;
}

template <class Memory>
void BasicSlotTable<Memory>::align(const Cursor& cursor) {
  // At the end of a feed that does not repeat nothing is wanted now.
  const auto next = cursor.want(0) ? best_alignment(cursor) : std::nullopt;
  if (!next) {
    raise_plan();
    return;
  }
  go_to(*next);
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (entries_[slot].use != Use::kOffered) continue;
    // One of two that hold the same batch is enough, and more than this table can tell apart: a predecessor had given
    // one of them up, and died before it could take the slot back.
    if (slot_of(entries_[slot].want.sequence) != slot || !fits(entries_[slot], cursor, next_)) retire(slot);
  }
}

template <class Memory>
void BasicSlotTable<Memory>::raise_plan() {
  const bool any =
      std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.use == Use::kOffered; });
  if (any) ring().raise_plan(++plan_);
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (entries_[slot].use == Use::kOffered) retire(slot);
  }
  go_to(unused_);
}

template <class Memory>
void BasicSlotTable<Memory>::go_to(std::uint64_t next) noexcept {
  next_ = next;
  ring().header().next.store(next, std::memory_order_relaxed);
}

// Ring::cancel(), and every row of a cancelled task says so: a restarted rank may want this very batch again, and must
// not take the rows of the slot's former turn for it.
template <class Memory>
void BasicSlotTable<Memory>::retire(std::uint32_t slot) {
  entries_[slot].use = Use::kStale;
  const contract::RingShape& shape = ring().shape();
  const SlotWord word = ring().slot(slot);
  for (std::uint32_t task = 0; task < shape.tasks; ++task) {
    if (!ring().claim(slot, task, contract::kOwner, word)) continue;
    const auto [begin, end] = contract::rows_of_task(task, shape.tasks, contract::units_of(shape));
    std::memset(ring().payload(slot) + memory_->status().offset + begin,
                static_cast<int>(contract::RowStatus::kCancelled), end - begin);
    ring().finish(slot, task, word.turn);
  }
}

template <class Memory>
bool BasicSlotTable<Memory>::can_take_back(std::uint32_t slot) const noexcept {
  switch (entries_[slot].use) {
    case Use::kLent: return memory_->holder(slot) == Memory::Holder::kNobody && ring().slot(slot).phase == Phase::kIdle;
    // A device may be copying it, for a batch that was wanted before.
    case Use::kStale: return ring().full(ring().slot(slot)) && memory_->holder(slot) == Memory::Holder::kNobody;
    case Use::kFree:
    case Use::kOffered: break;
  }
  return false;
}

template <class Memory>
bool BasicSlotTable<Memory>::something_to_take_back() const noexcept {
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (can_take_back(slot)) return true;
  }
  return false;
}

template <class Memory>
bool BasicSlotTable<Memory>::tend(const Cursor& cursor) {
  bool changed = false;
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (!can_take_back(slot)) continue;
    if (entries_[slot].use == Use::kStale) ring().drop(slot);
    entries_[slot] = {};
    changed = true;
  }
  const bool offered = offer_missing(cursor);
  if (offered) EventCount(memory_->pool().work).notify_one();
  return changed || offered;
}

template <class Memory>
bool BasicSlotTable<Memory>::offer_missing(const Cursor& cursor) {
  offered_.assign(slots(), false);  // by distance from next()
  free_.clear();
  for (std::uint32_t slot = slots(); slot-- > 0;) {
    if (entries_[slot].use == Use::kFree) free_.push_back(slot);
    if (entries_[slot].use != Use::kOffered) continue;
    const std::uint64_t ahead = entries_[slot].want.sequence - next_;
    if (ahead < slots()) offered_[ahead] = true;
  }
  bool any = false;
  for (std::uint64_t ahead = 0; ahead < slots() && !free_.empty(); ++ahead) {
    if (offered_[ahead]) continue;
    const auto wanted = cursor.want(ahead);
    if (!wanted) break;
    offer(free_.back(), *wanted, next_ + ahead, cursor.seed());
    free_.pop_back();
    any = true;
  }
  return any;
}

template <class Memory>
void BasicSlotTable<Memory>::offer(std::uint32_t slot, const Wanted& wanted, std::uint64_t sequence,
                                   std::uint64_t seed) {
  Entry& entry = entries_[slot];
  entry.use = Use::kOffered;
  entry.adopted = false;
  entry.want = to_want(wanted, sequence, plan_, seed, ring().shape().rows);
  entry.turn = contract::next_turn(ring().slot(slot).turn);  // A3
  ring().offer(slot, entry.want);
  unused_ = std::max(unused_, sequence + 1);
}

template <class Memory>
std::optional<std::uint32_t> BasicSlotTable<Memory>::slot_of(std::uint64_t sequence) const noexcept {
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (entries_[slot].use == Use::kOffered && entries_[slot].want.sequence == sequence) return slot;
  }
  return std::nullopt;
}

template <class Memory>
std::optional<std::uint32_t> BasicSlotTable<Memory>::next_slot() const noexcept {
  return slot_of(next_);
}

template <class Memory>
bool BasicSlotTable<Memory>::ready(std::uint32_t slot) const {
  const SlotWord word = ring().slot(slot);  // A2
  if (word.turn != entries_[slot].turn || word.phase != Phase::kOffered) {
    throw Error(
        ErrorKind::kInternal,
        fmt::format("{}: somebody overwrote the word of slot {}: turn {} and phase {} where turn {} was offered; "
                    "the ring cannot be trusted any more",
                    memory_->what(), slot, word.turn, static_cast<int>(word.phase), entries_[slot].turn));
  }
  return ring().full(word);
}

template <class Memory>
void BasicSlotTable<Memory>::lend(std::uint32_t slot) {
  ring().lease(slot);
  memory_->hand_out(slot);
  entries_[slot].use = Use::kLent;
}

template <class Memory>
void BasicSlotTable<Memory>::advance() noexcept {
  go_to(next_ + 1);
}

template <class Memory>
void BasicSlotTable<Memory>::reoffer(std::uint32_t slot) {
  ring().drop(slot);
  entries_[slot] = {};
}

template <class Memory>
bool BasicSlotTable<Memory>::user_holds_all() const noexcept {
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (entries_[slot].use != Use::kLent || memory_->holder(slot) != Memory::Holder::kUser) return false;
  }
  return true;
}

template <class Memory>
bool BasicSlotTable<Memory>::blocked_by_later() const noexcept {
  return !next_slot() && std::all_of(entries_.begin(), entries_.end(), [this](const Entry& entry) {
    const auto slot = static_cast<std::uint32_t>(&entry - entries_.data());
    return entry.use == Use::kOffered || (entry.use == Use::kLent && memory_->holder(slot) == Memory::Holder::kUser);
  });
}

template class BasicSlotTable<RingMemory>;

}  // namespace feedring
