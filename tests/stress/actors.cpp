// SPDX-License-Identifier: Apache-2.0
#include "tests/stress/actors.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace feedring::stress {

using contract::Phase;
using contract::SlotWord;

void Chance::dawdle() {
  if (one_in(sleep_one_in_)) ::usleep(static_cast<useconds_t>(below(100)));
  if (one_in(32)) ::sched_yield();
  if (one_in(16)) {
    const std::uint64_t until = monotonic_ns() + below(5000);
    while (monotonic_ns() < until) {
    }
  }
}

// ── producer ─────────────────────────────────────────────────────────────────────────────────────────────────────

bool Producer::run(const std::atomic<std::uint32_t>& stop) try {
  const auto over = [&] { return stop.load() != 0 || verdict_.failed.load() != 0; };
  while (!over()) {
    Choice choice{};
    if (choose(choice)) {
      work_on(choice);
    } else {
      work_.wait(config_.id - 1U, kNoTimeOut, [&] { return over() || choose(choice); });
      woken_ = true;
    }
  }
  return true;
} catch (const Death&) {
  return false;
}

void Producer::moment() {
  chance_.dawdle();
  if (config_.die_one_in != 0 && chance_.one_in(config_.die_one_in)) throw Death{};
}

// The lowest sequence of a ring with an open task, the rings from a random one on.
bool Producer::choose(Choice& choice) {
  const std::size_t first = chance_.below(rings_.size());
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const std::size_t r = (first + i) % rings_.size();
    const Ring<>& ring = rings_[r];
    bool found = false;
    std::uint64_t lowest = 0;
    for (std::uint32_t s = 0; s < ring.shape().slots; ++s) {
      const SlotWord word = ring.slot(s);
      if (word.phase != Phase::kOffered) continue;
      const std::uint64_t sequence = ring.sequence_hint(s);
      if (found && sequence >= lowest) continue;
      for (std::uint32_t task = 0; task < ring.shape().tasks; ++task) {
        if (!ring.open_hint(s, task, word)) continue;
        choice = {r, s, word};
        lowest = sequence;
        found = true;
        break;
      }
    }
    if (found) return true;
  }
  return false;
}

void Producer::work_on(const Choice& choice) {
  const Ring<>& ring = rings_[choice.ring];
  const std::uint32_t tasks = ring.shape().tasks;
  const auto first = static_cast<std::uint32_t>(chance_.below(tasks));
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const std::uint32_t task = (first + i) % tasks;
    moment();
    if (ring.claim(choice.slot, task, config_.id, choice.word)) do_task(choice, task);
  }
}

void Producer::do_task(const Choice& choice, std::uint32_t task) {
  const Ring<>& ring = rings_[choice.ring];
  const std::uint32_t turn = choice.word.turn;
  Choice other{};
  if (std::exchange(woken_, false) && choose(other)) work_.notify_one();
  if (!witnesses_.empty() && !witnesses_[choice.ring].worked_in.empty()) {
    auto& last_turn = witnesses_[choice.ring].worked_in[choice.slot * ring.shape().tasks + task];
    if (last_turn.exchange(turn) == turn)
      verdict_.fail(fmt::format("task {} was claimed twice in turn {}", task, turn));
  }

  moment();
  const Want want = ring.ticket(choice.slot);
  if (want != ticket(want.seed, want.plan, want.sequence, ring.shape().rows) ||
      (!witnesses_.empty() && want != witnesses_[choice.ring].tickets[choice.slot])) {
    verdict_.fail(fmt::format("producer {} read a torn ticket in slot {}, turn {}", config_.id, choice.slot, turn));
  }
  const auto [begin, end] = contract::rows_of_task(task, ring.shape().tasks, ring.shape().rows);
  for (std::uint32_t row = begin; row < end && !ring.stale(want.plan); ++row) {
    std::int64_t* cells = row_cells(ring, choice.slot, row);
    const std::uint32_t count = cells_of_a_row(ring);
    std::fill_n(cells, count, -1);  // what a reader that comes too early would see
    moment();
    for (std::uint32_t column = 0; column < count; ++column) cells[column] = cell(want, row, column);
  }

  const bool last = ring.finish_a(choice.slot, task, turn);
  moment();
  ring.finish_b(choice.slot, task, turn);
  moment();
  if (last) EventCount<>(ring.header().ready).notify_one();
  work_.notify_one();
}

// ── owner ────────────────────────────────────────────────────────────────────────────────────────────────────────

void Owner::take_over() {
  place_ = unpack(progress_.place.load());
  ready_.forget(0);
  ring_.take_over();
  ring_.raise_plan(place_.plan);  // the predecessor may have died between its state and the ring
  work_.notify_all();             // or between a change and its wake
}

void Owner::run(const Sink& sink, const std::function<bool()>& idle) {
  const auto over = [&] {
    return progress_.delivered.load() >= config_.batches || config_.stop->load() != 0 || verdict_.failed.load() != 0;
  };
  while (!over()) {
    if (config_.seek_one_in != 0 && chance_.one_in(config_.seek_one_in)) seek();
    if (pass(sink) || idle()) continue;
    ring_.header().waiting.store(1, std::memory_order_relaxed);
    ready_.wait(0, kNoTimeOut, [&] { return over() || something_to_do(); });
    ring_.header().waiting.store(0, std::memory_order_relaxed);
  }
}

// One look at each slot; true when something moved.
bool Owner::pass(const Sink& sink) {
  bool moved = false;
  for (std::uint32_t s = 0; s < ring_.shape().slots; ++s) {
    const SlotWord word = ring_.slot(s);
    if (word.phase == Phase::kIdle) {
      moved |= offer_next(s);
    } else if (word.phase == Phase::kOffered) {
      const Want want = ring_.ticket(s);
      if (!wanted(want)) {
        moved |= give_up(s);
      } else if (want.sequence == place_.next && ring_.full(word)) {
        deliver(s, want, sink);
        return true;
      }
    }
  }
  return moved;
}

bool Owner::something_to_do() const {
  for (std::uint32_t s = 0; s < ring_.shape().slots; ++s) {
    const SlotWord word = ring_.slot(s);
    if (word.phase == Phase::kIdle) return true;
    if (word.phase != Phase::kOffered || !ring_.full(word)) continue;
    const Want want = ring_.ticket(s);
    if (!wanted(want) || want.sequence == place_.next) return true;
  }
  return false;
}

// The lowest sequence that is in no slot yet.
bool Owner::offer_next(std::uint32_t slot) {
  std::uint64_t sequence = place_.next;
  for (std::uint32_t s = 0; s < ring_.shape().slots; ++s) {
    if (ring_.slot(s).phase != Phase::kOffered) continue;
    const Want other = ring_.ticket(s);
    if (wanted(other) && other.sequence == sequence) {
      ++sequence;
      s = ~0U;  // from the first slot again
    }
  }
  const Want want = ticket(config_.seed, place_.plan, sequence, ring_.shape().rows);
  if (witness_ != nullptr) witness_->tickets[slot] = want;
  ring_.offer(slot, want);
  chance_.dawdle();
  work_.notify_one();
  return true;
}

// A stale ticket: what is open is claimed and finished here; when the last claimant is through, the slot is free.
bool Owner::give_up(std::uint32_t slot) {
  if (chance_.one_in(2)) {
    ring_.cancel(slot);
  } else {  // the same in slow motion
    const SlotWord word = ring_.slot(slot);
    for (std::uint32_t task = 0; task < ring_.shape().tasks; ++task) {
      if (!ring_.claim(slot, task, contract::kOwner, word)) continue;
      chance_.dawdle();
      ring_.finish_a(slot, task, word.turn);
      chance_.dawdle();
      ring_.finish_b(slot, task, word.turn);
    }
  }
  if (!ring_.full(ring_.slot(slot))) return false;
  ring_.drop(slot);
  return true;
}

void Owner::deliver(std::uint32_t slot, const Want& want, const Sink& sink) {
  ring_.lease(slot);
  chance_.dawdle();
  if (want != ticket(config_.seed, place_.plan, place_.next, ring_.shape().rows)) {
    verdict_.fail(
        fmt::format("slot {} holds another ticket than sequence {} of plan {}", slot, place_.next, place_.plan));
  }
  check_rows(ring_, slot, want, "when it was leased", verdict_);
  // The one step that counts the batch as delivered: an owner that died before it delivers again, one after it not.
  std::uint64_t here = pack(place_);
  ++place_.next;
  if (!progress_.place.compare_exchange_strong(here, pack(place_))) verdict_.fail("a batch was delivered twice");
  progress_.delivered.fetch_add(1);
  ring_.header().next.store(place_.next, std::memory_order_relaxed);
  chance_.dawdle();
  sink(slot, want);
}

void Owner::seek() {
  place_ = {place_.plan + 1, static_cast<std::uint32_t>(chance_.below(1000))};
  progress_.place.store(pack(place_));
  progress_.seeks.fetch_add(1);
  chance_.dawdle();
  ring_.raise_plan(place_.plan);
}

// ── what they share ──────────────────────────────────────────────────────────────────────────────────────────────

void check_rows(const Ring<>& ring, std::uint32_t slot, const Want& want, const char* when, Verdict& verdict) {
  for (std::uint32_t row = 0; row < ring.shape().rows; ++row)
    for (std::uint32_t column = 0; column < cells_of_a_row(ring); ++column) {
      if (row_cells(ring, slot, row)[column] == cell(want, row, column)) continue;
      verdict.fail(fmt::format("row {} of sequence {}, plan {}, slot {}: cell {} was {:#x} {}", row, want.sequence,
                               want.plan, slot, column, row_cells(ring, slot, row)[column], when));
      return;
    }
}

std::string dump(std::span<const Ring<>> rings, const contract::Event<std::atomic>& work) {
  const auto event = [](const contract::Event<std::atomic>& e) {
    return fmt::format("sequence {}, waiters {:x} {:x} {:x} {:x}", e.sequence.load(), e.waiters[3].load(),
                       e.waiters[2].load(), e.waiters[1].load(), e.waiters[0].load());
  };
  constexpr const char* kPhases[] = {"Idle", "Offered", "Leased", "?"};
  std::string text = fmt::format("work: {}\n", event(work));
  for (const Ring<>& ring : rings) {
    const auto& header = ring.header();
    text += fmt::format("ring: plan {}, next {}, waiting {}; ready: {}\n", header.plan.load(), header.next.load(),
                        header.waiting.load(), event(header.ready));
    for (std::uint32_t s = 0; s < ring.shape().slots; ++s) {
      const SlotWord word = ring.slot(s);
      const Want want = ring.ticket(s);
      text += fmt::format("  slot {}: turn {} {} done {:b}; ticket: plan {} sequence {}; tasks:", s, word.turn,
                          kPhases[static_cast<int>(word.phase)], word.done, want.plan, want.sequence);
      for (std::uint32_t task = 0; task < ring.shape().tasks; ++task) {
        const contract::TaskWord left = ring.task(s, task);
        text += fmt::format(" {{{}, {}}}", left.turns, left.claimant);
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace feedring::stress
