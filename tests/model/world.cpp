// SPDX-License-Identifier: Apache-2.0
#include "tests/model/world.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "consumers/cursor.hpp"
#include "producers/pool/chooser.hpp"
#include "runtime/event_count.hpp"
#include "runtime/ring_segment.hpp"
#include "tests/model/atom.hpp"

// The shipped text, for memory whose Atom is the model's.
#include "consumers/slot_table.cpp"

namespace feedring::model {
namespace {

using contract::RowStatus;

constexpr std::uint64_t kNoTimeOut = 0;  // sleep() knows none

// What RingMemory is to the owner.
class Memory {
 public:
  enum class Holder : std::uint32_t { kNobody, kUser };
  struct Pool {
    contract::Event<Atom> work;
  };

  Memory(Ring<Atom> ring, Pool& pool, std::span<Atom<std::uint32_t>> holders)
      : ring_(ring), pool_(&pool), holders_(holders), status_(*find_tensor(ring.shape(), "status")) {}
  [[nodiscard]] const Ring<Atom>& ring() const { return ring_; }
  [[nodiscard]] Pool& pool() const { return *pool_; }
  [[nodiscard]] std::string_view what() const { return "the model"; }
  [[nodiscard]] const contract::TensorEntry& status() const { return status_; }
  [[nodiscard]] Holder holder(std::uint32_t slot) const {
    return static_cast<Holder>(holders_[slot].load(std::memory_order_acquire));
  }
  void hand_out(std::uint32_t slot) const {
    holders_[slot].store(static_cast<std::uint32_t>(Holder::kUser), std::memory_order_relaxed);
  }
  void forget_holders() const {
    for (auto& holder : holders_) holder.store(0, std::memory_order_relaxed);
  }
  void release(std::uint32_t slot) const {
    ring_.release(slot);
    holders_[slot].store(static_cast<std::uint32_t>(Holder::kNobody), std::memory_order_release);
    EventCount(ring_.header().ready).notify_one();
  }

  [[nodiscard]] std::uint64_t& sample(std::uint32_t slot, std::uint32_t row) const {
    return reinterpret_cast<std::uint64_t*>(ring_.payload(slot) + ring_.shape().tensor[0].offset)[row];
  }
  [[nodiscard]] std::uint8_t& row_status(std::uint32_t slot, std::uint32_t row) const {
    return *reinterpret_cast<std::uint8_t*>(ring_.payload(slot) + status_.offset + row);
  }

 private:
  Ring<Atom> ring_;
  Pool* pool_;
  std::span<Atom<std::uint32_t>> holders_;
  contract::TensorEntry status_;
};
using Table = BasicSlotTable<Memory>;

constexpr std::uint64_t kHalfWritten = 0xDEAD;
constexpr std::uint64_t sample_of(std::uint64_t epoch, std::uint64_t ordinal) { return (epoch + 1) << 16 | ordinal; }

class RingWorld : public World {
 public:
  explicit RingWorld(const Setting& setting) : set_(setting) {
    shape_ = lay_out_ring(set_.slots, set_.tasks, set_.tasks,
                          {{"samples", Dtype::kInt64, {}, {}}, {"status", Dtype::kUint8, {}, {}}});
    bytes_ = set_.rings * shape_.bytes + contract::kPage;
    shared_.reset(static_cast<std::byte*>(std::aligned_alloc(contract::kPage, bytes_)));
  }

  void begin() override {
    std::memset(shared_.get(), 0, bytes_);
    Machine& it = machine();
    it.reset({shared_.get(), bytes_});
    it.keep(std::as_writable_bytes(std::span(&ghost_, 1)));
    ghost_ = {};
    ghost_.producer_deaths = set_.producer_deaths;
    ghost_.rank_deaths = set_.rank_deaths;
    for (std::uint32_t r = 0; r < set_.rings; ++r) {
      ghost_.rank[r].seeks = set_.seeks;
      std::byte* base = shared_.get() + r * shape_.bytes;
      create_ring(base, shape_);
      const Ring<Atom> ring(base, shape_);
      rings_[r] = ring;
      auto& header = ring.header();
      it.name(&header.ready, &header.ready + 1, fmt::format("ring {} ready", r));
      it.name(&header.plan, &header.next, fmt::format("ring {} plan", r));
      it.make_quiet(&header.next, &header.ready);  // hints of the chooser
      if (set_.seeks == 0 && set_.rank_deaths == 0) it.make_quiet(&header.plan, &header.next);
      for (std::uint32_t s = 0; s < set_.slots; ++s) {
        auto& control = reinterpret_cast<contract::SlotControl<Atom>*>(base + shape_.slots_offset)[s];
        auto& ticket = control.ticket;
        it.name(&control, &ticket, fmt::format("ring {} slot {}", r, s));
        it.name(&ticket, &ticket + 1, fmt::format("ring {} slot {} ticket", r, s));
        it.make_quiet(&ticket, &ticket + 1);  // a hint for the chooser; else read under a claim, where nobody writes
        auto* lines = reinterpret_cast<contract::TaskLine<Atom>*>(base + shape_.tasks_offset) + s * shape_.tasks;
        it.name(lines, lines + shape_.tasks, fmt::format("ring {} slot {} tasks", r, s));
        it.keep({rings_[r].payload(s), 64});
        it.keep({rings_[r].payload(s) + shape_.tensor[1].offset, 8});
      }
      it.make_quiet(holders(r).data(), holders(r).data() + set_.slots);
      memory_[r].emplace(ring, pool(), holders(r));
    }
    it.name(&pool().work, &pool().work + 1, "work");
    for (auto* event : events()) {
      it.make_quiet(&event->waiters[1], event + 1);
      it.make_counter(&event->sequence, &event->waiters[0]);
    }
    for (std::uint32_t p = 0; p < set_.producers; ++p) it.start(p, [this, p] { producer(p); }, {});
    for (std::uint32_t r = 0; r < set_.rings; ++r) start_rank(r, {});
    if (set_.producer_deaths > 0) it.start(supervisor(), [this] { supervise(); }, {});
  }

  void outside(std::vector<Move>& moves) override {
    const Machine& it = machine();
    for (std::uint8_t p = 0; p < set_.producers; ++p) {
      if (ghost_.producer_deaths > 0 && it.runs(p)) moves.push_back({Move::Kind::kKill, p});
      if ((ghost_.swept >> p & 1) != 0) moves.push_back({Move::Kind::kRestart, p});
    }
    for (std::uint32_t r = 0; r < set_.rings; ++r) {
      const auto rank = static_cast<std::uint8_t>(owner(r));
      if (ghost_.rank_deaths > 0 && it.runs(rank)) moves.push_back({Move::Kind::kKill, rank});
      if (!it.runs(rank) && !ghost_.rank[r].finished) moves.push_back({Move::Kind::kRestart, rank});
    }
  }

  void apply(const Move& move) override {
    Machine& it = machine();
    const std::size_t who = move.actor;
    if (who < set_.producers) {
      if (move.kind == Move::Kind::kKill) {
        --ghost_.producer_deaths;
        it.kill(who);
        it.signals |= dead_bit(who);
      } else {
        ghost_.swept &= ~(1U << who);
        it.start(
            who, [this, who] { producer(static_cast<std::uint32_t>(who)); }, it.view(supervisor()));
      }
      return;
    }
    const auto r = static_cast<std::uint32_t>(who - set_.producers);
    if (move.kind == Move::Kind::kKill) {  // the whole process
      --ghost_.rank_deaths;
      it.kill(owner(r));
      if (set_.releaser) it.kill(releaser(r));
      for (std::uint32_t s = 0; s < set_.slots; ++s) it.signals &= ~held_bit(r, s);
    } else {
      View after = it.view(owner(r));
      if (set_.releaser) after.join(it.view(releaser(r)));
      start_rank(r, after);
    }
  }

  void judge_end() override {
    for (std::uint32_t r = 0; r < set_.rings; ++r) {
      if (!ghost_.rank[r].finished) {
        machine().fail("deadlock: a rank waits for ever");
        return;
      }
      for (std::uint32_t s = 0; s < set_.slots; ++s) {
        if (rings_[r].slot(s).phase != contract::Phase::kIdle) machine().fail("lost slot: not idle at the end");
        for (std::uint32_t k = 0; k < set_.tasks; ++k) {
          if (rings_[r].task(s, k).claimant != contract::kNobody) machine().fail("a task is claimed for ever");
        }
      }
    }
  }

  [[nodiscard]] std::string name_of(std::size_t actor) const override {
    if (actor < set_.producers) return fmt::format("producer {}", actor + 1);
    if (actor < set_.producers + set_.rings) return fmt::format("rank {}", actor - set_.producers);
    return actor == supervisor() ? "supervisor" : "releaser";
  }

 private:
  // What the checks know, and what outlives a rank (its checkpoint). Part of the state.
  struct Ghost {
    std::uint32_t producer_deaths = 0;
    std::uint32_t rank_deaths = 0;
    std::uint32_t swept = 0;  // producers that may be started again
    struct Rank {
      std::uint32_t epoch = 0;
      std::uint32_t step = 0;
      std::uint32_t seeks = 0;
      std::uint32_t finished = 0;
    } rank[2];
  };

  [[nodiscard]] std::size_t owner(std::uint32_t r) const { return set_.producers + r; }
  [[nodiscard]] std::size_t supervisor() const { return set_.producers + set_.rings; }
  [[nodiscard]] std::size_t releaser(std::uint32_t r) const { return supervisor() + 1 + r; }
  [[nodiscard]] static std::uint32_t dead_bit(std::size_t producer) { return 1U << producer; }
  [[nodiscard]] std::uint32_t held_bit(std::uint32_t r, std::uint32_t slot) const {
    return 256U << (r * set_.slots + slot);
  }
  [[nodiscard]] std::size_t cell(std::uint32_t r, std::uint32_t slot, std::uint32_t task) const {
    return (r * set_.slots + slot) * set_.tasks + task;
  }
  /// A slot word as it is, without an access of the machine.
  [[nodiscard]] contract::SlotWord peek(std::uint32_t r, std::uint32_t slot) const {
    std::uint64_t word;
    std::memcpy(&word,
                shared_.get() + r * shape_.bytes + shape_.slots_offset + slot * sizeof(contract::SlotControl<Atom>), 8);
    return contract::SlotWord::unpack(word);
  }
  [[nodiscard]] Memory::Pool& pool() const {
    return *reinterpret_cast<Memory::Pool*>(shared_.get() + set_.rings * shape_.bytes);
  }
  [[nodiscard]] std::span<Atom<std::uint32_t>> holders(std::uint32_t r) const {
    auto* first = reinterpret_cast<Atom<std::uint32_t>*>(shared_.get() + set_.rings * shape_.bytes + 1024);
    return {first + r * set_.slots, set_.slots};
  }
  [[nodiscard]] std::vector<contract::Event<Atom>*> events() const {
    std::vector<contract::Event<Atom>*> all{&pool().work};
    for (std::uint32_t r = 0; r < set_.rings; ++r) all.push_back(&rings_[r].header().ready);
    return all;
  }

  // ── a producer: Worker::run ──
  void producer(std::uint32_t p) {
    const std::span<const Ring<Atom>> rings(rings_.data(), set_.rings);
    EventCount<Atom> work(pool().work);
    bool woken = false;
    for (;;) {
      machine().at(1, woken);
      if (const auto choice = choose<Atom>(rings, p)) {
        for (;;) {
          machine().at(2, woken, choice->ring, choice->slot, choice->word.pack());
          const auto task = open_task<Atom>(rings[choice->ring], *choice, p, set_.producers);
          if (!task) break;
          machine().at(3, woken, choice->ring, choice->slot, choice->word.pack(), *task);
          if (rings[choice->ring].claim(choice->slot, *task, claimant(p), choice->word)) {
            do_task(p, *choice, *task, woken);
          }
        }
      } else {
        machine().at(4);
        work.wait(p, kNoTimeOut, [&] {
          const bool found = choose<Atom>(rings, p).has_value();
          machine().at(5, found);
          return found;
        });
        woken = true;
      }
    }
  }

  void do_task(std::uint32_t p, const SlotChoice& choice, std::uint32_t task, bool& woken) {
    const std::span<const Ring<Atom>> rings(rings_.data(), set_.rings);
    const Ring<Atom>& ring = rings[choice.ring];
    const Memory& memory = *memory_[choice.ring];
    EventCount<Atom> work(pool().work);
    const auto here = [&](int place, auto... more) {
      machine().at(place, woken, choice.ring, choice.slot, choice.word.pack(), task, more...);
    };
    here(6);
    if (woken) {
      woken = false;
      if (choose<Atom>(rings, p)) work.notify_one();
    }
    here(7);
    const Want want = ring.ticket(choice.slot);
    const std::size_t at = cell(choice.ring, choice.slot, task);
    const contract::SlotWord now = peek(choice.ring, choice.slot);
    if (now.turn == choice.word.turn && (now.done >> task & 1) != 0) machine().fail("a task is done twice in one turn");
    if (ring.stale(want.plan)) {
      memory.row_status(choice.slot, task) = static_cast<std::uint8_t>(RowStatus::kCancelled);
    } else {
      machine().write_cell(at);
      memory.sample(choice.slot, task) = kHalfWritten;
      if (set_.producer_deaths > 0) machine().moment();
      memory.sample(choice.slot, task) = sample_of(want.epoch, want.first + task);
      memory.row_status(choice.slot, task) = static_cast<std::uint8_t>(RowStatus::kOk);
    }
    here(8);
    const bool last = ring.finish(choice.slot, task, choice.word.turn);
    here(9, last);
    if (last) EventCount<Atom>(ring.header().ready).notify_one();
    here(10);
    work.notify_one();
  }

  // ── the supervisor: ProducerSet::sweep ──
  void supervise() {
    std::uint32_t all = 0;
    for (std::uint32_t p = 0; p < set_.producers; ++p) all |= dead_bit(p);
    for (;;) {
      machine().at(0);
      const std::uint32_t bit = machine().await(all);
      std::uint32_t p = 0;
      while (dead_bit(p) != bit) ++p;
      machine().join(p);
      for (std::uint32_t r = 0; r < set_.rings; ++r) (void)rings_[r].sweep(claimant(p));
      EventCount<Atom>(pool().work).forget(p);
      EventCount<Atom>(pool().work).notify_all();
      for (std::uint32_t r = 0; r < set_.rings; ++r) EventCount<Atom>(rings_[r].header().ready).notify_all();
      machine().signals &= ~bit;
      ghost_.swept |= 1U << p;
    }
  }

  // ── a rank: FeedOwner ──
  void start_rank(std::uint32_t r, const View& after) {
    if (set_.releaser)
      machine().start(
          releaser(r), [this, r] { release_in_any_order(r); }, after);
    machine().start(
        owner(r), [this, r] { own(r); }, after);
  }

  void own(std::uint32_t r) {
    Ghost::Rank& mine = ghost_.rank[r];
    const auto memory = std::make_shared<Memory>(*memory_[r]);
    memory->forget_holders();
    CursorSpec spec;
    spec.samples = std::uint64_t{set_.batches} * set_.tasks;
    spec.batch = set_.tasks;
    spec.repeat = false;
    const auto cursor = std::make_unique<Cursor>(spec);
    const auto table = std::make_unique<Table>(memory);
    if (table->pristine()) {
      table->align(*cursor);
      table->tend(*cursor);
    } else {
      table->adopt();
    }
    machine().at(8);
    // load_state()
    cursor->seek(mine.epoch, mine.step);
    table->align(*cursor);
    table->tend(*cursor);

    while (!cursor->at_end()) {
      machine().at(1);
      if (mine.seeks > 0) seek(mine, *table, *cursor);
      if (cursor->at_end()) break;
      deliver(r, *memory, *table, *cursor, wait_for_next(*memory, *table, *cursor));
    }
    while (!all_idle(r)) {
      machine().at(2);
      table->tend(*cursor);
      if (all_idle(r)) break;
      EventCount<Atom>(memory->ring().header().ready).wait(0, kNoTimeOut, [&] {
        return table->something_to_take_back() || all_idle(r);
      });
    }
    mine.finished = 1;
  }

  // Or not; over one batch, or to the next epoch. The trainer's checkpoint still tells the place before.
  void seek(Ghost::Rank& mine, Table& table, Cursor& cursor) {
    const std::uint32_t choice = machine().choose(3);
    if (choice == 0) return;
    --mine.seeks;
    machine().at(9, choice);
    if (choice == 1) cursor.seek(cursor.epoch() + 1, 0);
    if (choice == 2) cursor.seek(cursor.epoch(), cursor.step() + 1);
    table.align(cursor);
    table.tend(cursor);
  }

  std::uint32_t wait_for_next(const Memory& memory, Table& table, const Cursor& cursor) {
    EventCount<Atom> ready(memory.ring().header().ready);
    const auto ready_slot = [&] {
      const auto slot = table.next_slot();
      return slot && table.ready(*slot) ? slot : std::nullopt;
    };
    for (;;) {
      table.tend(cursor);
      machine().at(4);
      if (const auto slot = ready_slot()) return *slot;
      machine().at(5);
      // Where the shipped owner raises an error at once, this one waits for its other thread.
      if (!table.user_holds_all() && table.blocked_by_later()) {
        table.raise_plan();
        continue;
      }
      ready.wait(0, kNoTimeOut, [&] {
        const bool found = ready_slot().has_value() || table.something_to_take_back();
        machine().at(6, found);
        return found;
      });
      machine().at(3);
    }
  }

  void deliver(std::uint32_t r, const Memory& memory, Table& table, Cursor& cursor, std::uint32_t slot) {
    Ghost::Rank& mine = ghost_.rank[r];
    const Wanted wanted = *cursor.want(0);
    bool whole = true;
    for (std::uint32_t k = 0; k < set_.tasks; ++k) {
      whole = whole && memory.row_status(slot, k) == static_cast<std::uint8_t>(RowStatus::kOk);
    }
    if (!whole && table.adopted(slot)) {
      table.reoffer(slot);
      return;
    }
    machine().at(7, slot);
    if (!whole) machine().fail("a batch was delivered with rows that nobody wrote");
    table.lend(slot);
    read(r, memory, slot, wanted);
    table.advance();
    cursor.advance();
    mine.epoch = static_cast<std::uint32_t>(wanted.epoch);  // the trainer's checkpoint
    mine.step = static_cast<std::uint32_t>(wanted.step) + 1;
    if (set_.releaser) {
      machine().signals |= held_bit(r, slot);
    } else {
      memory.release(slot);
    }
  }

  void read(std::uint32_t r, const Memory& memory, std::uint32_t slot, const Wanted& wanted) {
    for (std::uint32_t k = 0; k < set_.tasks; ++k) {
      machine().read_cell(cell(r, slot, k));
      if (memory.sample(slot, k) != sample_of(wanted.epoch, wanted.share.first + k)) {
        machine().fail(fmt::format("a batch was delivered with a wrong sample: {:#x} where {:#x} was wanted",
                                   memory.sample(slot, k), sample_of(wanted.epoch, wanted.share.first + k)));
      }
    }
  }

  [[nodiscard]] bool all_idle(std::uint32_t r) const {
    for (std::uint32_t s = 0; s < set_.slots; ++s) {
      if (rings_[r].slot(s).phase != contract::Phase::kIdle) return false;
    }
    return true;
  }

  void release_in_any_order(std::uint32_t r) {
    std::uint32_t all = 0;
    for (std::uint32_t s = 0; s < set_.slots; ++s) all |= held_bit(r, s);
    for (;;) {
      machine().at(0);
      const std::uint32_t bit = machine().await(all);
      machine().signals &= ~bit;
      machine().join(owner(r));  // threads of one process hand over in order
      std::uint32_t slot = 0;
      while (held_bit(r, slot) != bit) ++slot;
      for (std::uint32_t k = 0; k < set_.tasks; ++k) machine().read_cell(cell(r, slot, k));  // the last view
      memory_[r]->release(slot);
    }
  }

  [[nodiscard]] static contract::Claimant claimant(std::uint32_t p) { return static_cast<contract::Claimant>(p + 1); }

  Setting set_;
  contract::RingShape shape_;
  std::size_t bytes_ = 0;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> shared_;
  std::array<Ring<Atom>, 2> rings_;
  std::array<std::optional<Memory>, 2> memory_;
  Ghost ghost_;
};

}  // namespace

std::unique_ptr<World> ring_world(const Setting& setting) { return std::make_unique<RingWorld>(setting); }

}  // namespace feedring::model
