// SPDX-License-Identifier: Apache-2.0
// THE LAW OF THE RING: the moves on the words of contract.hpp, over a base pointer. It owns no mapping and starts no
// system call, so threads on one mapping (the race detector), a scheduler that replaces Atom, and real processes run
// this same text. Who may call what:
//
//   owner     the rank, one thread at a time: offer, lease, drop, cancel, raise_plan, take_over
//   anybody of the owner's process: release
//   producer  claim, finish, stale
//   sweeper   the supervisor, after the death of a claimant is confirmed: sweep
//
// Edges (docs/protocol.md has the table; the line of each access carries the label, tests/lint/edges.sh compares):
//   R1 offer's store              -> A1 a producer's load of the slot word before it claims: the ticket is complete
//   R2 finish's read-modify-write -> A2 the owner's load that finds all bits: every sample is written
//   R3 release's store            -> A3 the owner's load that finds Idle: every reader of the payload is done
//   R4 a task word given back     -> A4 the claim that takes it: what its last claimant wrote lies before
#pragma once

#include <type_traits>

#include "runtime/contract.hpp"
#include "runtime/fault_point.hpp"

namespace feedring {

/// What the owner puts into a ticket.
struct Want {
  std::uint64_t sequence = 0;
  std::uint64_t plan = 0;
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t first = 0;
  std::uint32_t valid = 0;
  std::uint32_t rows = 0;
  bool operator==(const Want&) const = default;
};

template <template <class> class Atom = std::atomic>
class Ring {
 public:
  using Header = contract::RingHeader<Atom>;
  using SlotWord = contract::SlotWord;
  using TaskWord = contract::TaskWord;
  using Phase = contract::Phase;
  using Claimant = contract::Claimant;

  Ring() = default;
  /// `shape` is a validated copy (ring_segment.hpp), never read again from the memory that a peer can write.
  Ring(std::byte* base, const contract::RingShape& shape) noexcept : base_(base), shape_(shape) {}

  [[nodiscard]] const contract::RingShape& shape() const noexcept { return shape_; }
  [[nodiscard]] Header& header() const noexcept { return *reinterpret_cast<Header*>(base_); }
  [[nodiscard]] std::byte* payload(std::uint32_t slot) const noexcept {
    return base_ + shape_.payload_offset + slot * shape_.payload_stride;
  }
  [[nodiscard]] contract::FailureRecord& failure(std::uint32_t slot, std::uint32_t task) const noexcept {
    return reinterpret_cast<contract::FailureRecord*>(base_ + shape_.failures_offset)[slot * shape_.tasks + task];
  }

  /// The slot word. Acquire: A1 for who claims next, A2 for the owner that finds all bits, A3 for the owner that finds
  /// Idle.
  [[nodiscard]] SlotWord slot(std::uint32_t slot) const noexcept {
    return SlotWord::unpack(control_of(slot).word.load(std::memory_order_acquire));  // A1 A2 A3
  }
  [[nodiscard]] bool full(SlotWord word) const noexcept { return word.done == contract::full(shape_.tasks); }

  /// Hints for choosing what to claim: relaxed, possibly old, never trusted for more. A task is open by the same
  /// comparison as in claim(), or a corrupt word would be tried for ever.
  [[nodiscard]] std::uint64_t sequence_hint(std::uint32_t slot) const noexcept {
    return control_of(slot).ticket.sequence.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool open_hint(std::uint32_t slot, std::uint32_t task, SlotWord word) const noexcept {
    return task_word(slot, task).load(std::memory_order_relaxed) == open_task(word).pack();
  }

  // ── producer ───────────────────────────────────────────────────────────────────────────────────────────────────

  /// Claims a task of the turn in `word` (from slot()). One step records the claim and the claimant. From here until
  /// finish() the ticket and the slot cannot change, so the ticket is read after this.
  /// A4: acquire. Otherwise, after a sweep, this claimant's writes would not be ordered after those of the dead one:
  /// this claimant may have read the slot word while that one still lived.
  [[nodiscard]] bool claim(std::uint32_t slot, std::uint32_t task, Claimant claimant, SlotWord word) const noexcept {
    std::uint64_t expected = open_task(word).pack();
    const std::uint64_t mine = TaskWord{open_task(word).turns, claimant}.pack();
    fault_point_on<Atom>("claim, before its step");
    const bool won = task_word(slot, task)
                         .compare_exchange_strong(expected, mine, std::memory_order_acquire,
                                                  std::memory_order_relaxed);  // A4
    if (won) fault_point_on<Atom>("claim, after its step");
    return won;
  }

  /// The ticket of a slot in which the caller holds a claim, or which the caller owns; a hint for anybody else.
  /// Whatever the owner wrote: the numbers are to be checked before use.
  [[nodiscard]] Want ticket(std::uint32_t slot) const noexcept {
    const auto& ticket = control_of(slot).ticket;
    return {get(ticket.sequence), get(ticket.plan),  get(ticket.seed), get(ticket.epoch),
            get(ticket.first),    get(ticket.valid), get(ticket.rows)};
  }

  /// True when the owner moved on (seek): the work is finished at once, without decoding. Relaxed: only a saving.
  [[nodiscard]] bool stale(std::uint64_t plan) const noexcept {
    return header().plan.load(std::memory_order_relaxed) > plan;
  }

  /// Ends a claim in turn `turn`: a, sets the done bit; b, gives the task word back. Returns true when this set the
  /// last bit, so that the caller wakes the owner. Work sleepers are woken after every finish: the next turn's claim
  /// may have met this word before b.
  bool finish(std::uint32_t slot, std::uint32_t task, std::uint32_t turn) const noexcept {
    fault_point_on<Atom>("finish, before a");
    const bool last = finish_a(slot, task, turn);
    fault_point_on<Atom>("finish, between a and b");
    finish_b(slot, task, turn);
    fault_point_on<Atom>("finish, after b");
    return last;
  }
  /// R2: acquire-release. Release, or the owner could see the bit and not the samples. A read-modify-write and not a
  /// store, or a second finisher would cut the owner off from what the first one wrote (and lose its bit).
  bool finish_a(std::uint32_t slot, std::uint32_t task, std::uint32_t turn) const noexcept {
    auto& word = control_of(slot).word;
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    for (;;) {
      SlotWord next = SlotWord::unpack(seen);
      if (next.turn != turn) return false;  // only a corrupt word: a held claim keeps the slot in its turn
      next.done |= 1U << task;
      if (word.compare_exchange_weak(seen, next.pack(), std::memory_order_acq_rel, std::memory_order_relaxed)) {  // R2
        return full(next);
      }
    }
  }
  /// R4: release, so that b never comes before a, not even in the compiler's order: a death between them would leave a
  /// task that counts as done and a bit that nobody sets.
  void finish_b(std::uint32_t slot, std::uint32_t task, std::uint32_t turn) const noexcept {
    task_word(slot, task).store(TaskWord{turn, contract::kNobody}.pack(), std::memory_order_release);  // R4
  }

  // ── owner ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /// Idle(n-1) -> Offered(n). The caller saw Idle through slot() (A3). R1: release. Otherwise a producer could claim
  /// and read the former ticket.
  void offer(std::uint32_t slot, const Want& want) const noexcept {
    auto& control = control_of(slot);
    const SlotWord idle = SlotWord::unpack(control.word.load(std::memory_order_relaxed));
    fault_point_on<Atom>("offer, before the ticket");
    put(control.ticket.sequence, want.sequence);
    put(control.ticket.plan, want.plan);
    put(control.ticket.seed, want.seed);
    put(control.ticket.epoch, want.epoch);
    fault_point_on<Atom>("offer, within the ticket");
    put(control.ticket.first, want.first);
    put(control.ticket.valid, want.valid);
    put(control.ticket.rows, want.rows);
    const SlotWord offered{contract::next_turn(idle.turn), Phase::kOffered, 0};
    fault_point_on<Atom>("offer, before the word");
    control.word.store(offered.pack(), std::memory_order_release);  // R1
    fault_point_on<Atom>("offer, after the word");
  }

  /// Offered, all bits -> Leased. The caller saw all bits through slot() (A2); from there nobody else writes the word.
  void lease(std::uint32_t slot) const noexcept {
    fault_point_on<Atom>("lease, before its step");
    control_of(slot).word.store(in_phase(slot, Phase::kLeased), std::memory_order_relaxed);
    fault_point_on<Atom>("lease, after its step");
  }
  /// Leased -> Idle, by any thread of the owning process, after the last view died and the copy's event fired.
  /// R3: release. Otherwise the next turn's samples could overwrite what a reader still reads.
  void release(std::uint32_t slot) const noexcept {
    fault_point_on<Atom>("release, before its step");
    control_of(slot).word.store(in_phase(slot, Phase::kIdle), std::memory_order_release);  // R3
    fault_point_on<Atom>("release, after its step");
  }
  /// Offered, all bits -> Idle, for a ticket that nobody wants any more.
  void drop(std::uint32_t slot) const noexcept {
    fault_point_on<Atom>("drop, before its step");
    control_of(slot).word.store(in_phase(slot, Phase::kIdle), std::memory_order_relaxed);
    fault_point_on<Atom>("drop, after its step");
  }

  /// Claims what is still open in an Offered slot and finishes it, so that the slot comes back without decoding.
  void cancel(std::uint32_t slot_index) const noexcept {
    const SlotWord word = slot(slot_index);
    for (std::uint32_t task = 0; task < shape_.tasks; ++task) {
      if (claim(slot_index, task, contract::kOwner, word)) finish(slot_index, task, word.turn);
    }
  }

  /// Makes every ticket with a smaller plan id stale.
  void raise_plan(std::uint64_t plan) const noexcept {
    fault_point_on<Atom>("plan, before it is raised");
    header().plan.store(plan, std::memory_order_relaxed);
    fault_point_on<Atom>("plan, after it is raised");
  }

  /// A restarted rank, its predecessor confirmed dead: ends the cancels that it left, frees what it had leased. The
  /// caller then wakes all work sleepers: the predecessor may have died between an offer and its wake-up.
  void take_over() const noexcept {
    sweep(contract::kOwner);
    fault_point_on<Atom>("take over, after the sweep");
    for (std::uint32_t s = 0; s < shape_.slots; ++s) {
      if (slot(s).phase == Phase::kLeased) release(s);
    }
  }

  // ── sweeper ────────────────────────────────────────────────────────────────────────────────────────────────────

  /// Repairs what a claimant, confirmed dead, left in this ring; returns the tasks found. The caller then wakes
  /// everybody, whatever was found, and only then gives the id out again. Nobody cannot die: sweep(kNobody) does
  /// nothing, for it would count open tasks as done.
  std::uint32_t sweep(Claimant dead) const noexcept {
    if (dead == contract::kNobody) return 0;
    std::uint32_t found = 0;
    for (std::uint32_t s = 0; s < shape_.slots; ++s) {
      for (std::uint32_t k = 0; k < shape_.tasks; ++k) {
        auto& word = task_word(s, k);
        // Relaxed: whoever confirmed the death (a fired pidfd) comes after everything that the dead one did.
        const TaskWord left = TaskWord::unpack(word.load(std::memory_order_relaxed));
        if (left.claimant != dead) continue;
        fault_point_on<Atom>("sweep, before a task");
        // Nobody else writes a task word that a dead claimant holds, so a store is enough.
        word.store(contract::swept(left, slot(s), k).pack(), std::memory_order_release);  // R4
        fault_point_on<Atom>("sweep, after a task");
        ++found;
      }
    }
    return found;
  }

  /// The claimant of a task, for who reports on it; old by the time it is read.
  [[nodiscard]] TaskWord task(std::uint32_t slot, std::uint32_t k) const noexcept {
    return TaskWord::unpack(task_word(slot, k).load(std::memory_order_relaxed));
  }

 private:
  [[nodiscard]] static TaskWord open_task(SlotWord word) noexcept {
    return {(word.turn - 1) & contract::kTurnMask, contract::kNobody};
  }
  [[nodiscard]] contract::SlotControl<Atom>& control_of(std::uint32_t slot) const noexcept {
    return reinterpret_cast<contract::SlotControl<Atom>*>(base_ + shape_.slots_offset)[slot];
  }
  [[nodiscard]] Atom<std::uint64_t>& task_word(std::uint32_t slot, std::uint32_t task) const noexcept {
    return reinterpret_cast<contract::TaskLine<Atom>*>(base_ + shape_.tasks_offset)[slot * shape_.tasks + task].word;
  }
  /// The slot word in another phase, for who alone may write it now.
  [[nodiscard]] std::uint64_t in_phase(std::uint32_t slot, Phase phase) const noexcept {
    SlotWord word = SlotWord::unpack(control_of(slot).word.load(std::memory_order_relaxed));
    word.phase = phase;
    return word.pack();
  }
  // The words of a ticket: the slot word orders them.
  template <class T>
  [[nodiscard]] static T get(const Atom<T>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
  template <class T>
  static void put(Atom<T>& word, std::type_identity_t<T> value) noexcept {
    word.store(value, std::memory_order_relaxed);
  }

  std::byte* base_ = nullptr;
  contract::RingShape shape_{};
};

}  // namespace feedring
