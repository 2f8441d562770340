// SPDX-License-Identifier: Apache-2.0
#include "tests/model/machine.hpp"

#include <fmt/format.h>

#include <bit>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <utility>

namespace feedring::model {
namespace {

namespace context = boost::context::detail;

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93;
  return hash ^ (hash >> 29);
}

constexpr bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
constexpr bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

constexpr std::uint64_t written_bit(std::size_t cell) { return std::uint64_t{1} << (8 * cell); }
constexpr std::uint64_t read_bit(std::size_t cell, std::size_t actor) { return std::uint64_t{2} << (8 * cell + actor); }
constexpr std::uint64_t all_bits(std::size_t cell) { return std::uint64_t{0xFF} << (8 * cell); }

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "model: %s\n", why);
  std::abort();
}

}  // namespace

Machine& machine() {
  static Machine one;
  return one;
}

// ── set-up ───────────────────────────────────────────────────────────────────────────────────────────────────────

void Machine::reset(std::span<std::byte> shared) {
  shared_ = shared;
  word_at_.assign(shared.size() / 4, 0);
  words_.clear();
  kept_.clear();
  ranges_.clear();
  history_.fill({});
  actors_.fill({});
  signals = 0;
  violation_.clear();
}

void Machine::keep(std::span<std::byte> bytes) { kept_.push_back(bytes); }
void Machine::make_quiet(const void* begin, const void* end) {
  ranges_.push_back({begin, end, Range::What::kQuiet, ""});
}
void Machine::make_counter(const void* begin, const void* end) {
  ranges_.push_back({begin, end, Range::What::kCounter, ""});
}
void Machine::name(const void* begin, const void* end, const std::string& name) {
  ranges_.push_back({begin, end, Range::What::kName, name});
}

std::size_t Machine::word_of(Place place) {
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(place.address) - shared_.data());
  if (offset >= shared_.size()) give_up("an access to a word outside of the shared memory");
  std::uint16_t& at = word_at_[offset / 4];
  if (at != 0) return at - 1U;
  if (words_.size() == kMaxWords) give_up("more words than the model has room for");
  inside_ = false;  // what is kept about a word is no memory of the actor
  Word word;
  if (place.bytes == 8) word.wide = static_cast<std::uint64_t*>(place.address);
  if (place.bytes == 4) word.narrow = static_cast<std::uint32_t*>(place.address);
  word.initial = word.get();
  const std::less<const void*> below;
  for (const Range& range : ranges_) {
    if (below(place.address, range.begin) || !below(place.address, range.end)) continue;
    word.quiet = word.quiet || range.what == Range::What::kQuiet;
    word.counter = word.counter || range.what == Range::What::kCounter;
    if (range.what == Range::What::kName) {
      word.name =
          fmt::format("{}+{}", range.name,
                      static_cast<const std::byte*>(place.address) - static_cast<const std::byte*>(range.begin));
    }
  }
  words_.push_back(word);
  at = static_cast<std::uint16_t>(words_.size());
  inside_ = true;
  return words_.size() - 1;
}

// ── fibers ───────────────────────────────────────────────────────────────────────────────────────────────────────

void Machine::start(std::size_t number, const Program& program, const View& after) {
  programs_[number] = program;
  Actor& actor = actors_[number];
  actor = {};
  actor.runs = true;
  actor.ever = true;
  actor.view = after;
  std::memset(heap(number), 0, kHeap);
  actor.context = context::make_fcontext(top(number), kStack, [](context::transfer_t from) {
    Machine& self = machine();
    self.driver_ = from.fctx;
    try {
      self.programs_[self.current_]();
    } catch (const std::exception& error) {
      self.inside_ = false;
      self.fail(error.what());
    }
    self.actors_[self.current_].runs = false;
    self.actors_[self.current_].pending = {};
    context::jump_fcontext(self.driver_, nullptr);
  });
  resume(number, 0);
}

// As kill -9: nothing on its stack is ever run again.
void Machine::kill(std::size_t number) {
  Actor& actor = actors_[number];
  actor.runs = false;
  actor.pending = {};
  actor.past = 0;
  actor.context = nullptr;
  actor.heap_used = 0;
}

void Machine::resume(std::size_t number, std::uint32_t answer) {
  answer_ = answer;
  current_ = number;
  inside_ = true;
  actors_[number].context = context::jump_fcontext(actors_[number].context, nullptr).fctx;
  inside_ = false;
}

std::uint32_t Machine::pause(const Pending& pending) {
  actors_[current_].pending = pending;
  driver_ = context::jump_fcontext(driver_, nullptr).fctx;
  return answer_;
}

void Machine::saw(std::uint64_t value) { actors_[current_].past = mix(actors_[current_].past, value + 1); }

void Machine::checkpoint(std::uint64_t local) { actors_[current_].past = mix(0, local); }

void* Machine::allocate(std::size_t bytes) {
  Actor& actor = actors_[current_];
  void* memory = heap(current_) + actor.heap_used;
  actor.heap_used += (bytes + 15) / 16 * 16;
  if (actor.heap_used > kHeap) give_up("an actor needs more memory than the model has room for");
  return memory;
}

bool Machine::owns(const void* memory) {
  const std::less<const void*> below;
  return !below(memory, heaps_) && below(memory, heaps_ + kMaxActors * kHeap);
}

// ── the driver's side ────────────────────────────────────────────────────────────────────────────────────────────

bool Machine::may_be_older(std::size_t actor, std::size_t word, bool weak) const {
  return (weak || !history_[word].single_order) && (actors_[actor].view.words >> word & 1) == 0 &&
         history_[word].older != words_[word].get();
}

std::vector<std::size_t> Machine::sleepers(std::size_t word) const {
  std::vector<std::size_t> found;
  for (std::size_t a = 0; a < kMaxActors; ++a) {
    const Pending& pending = actors_[a].pending;
    if (actors_[a].runs && pending.act == Act::kAsleep && pending.word == word) found.push_back(a);
  }
  return found;
}

std::uint32_t Machine::choices(std::size_t number) const {
  if (!actors_[number].runs) return 0;
  const Pending& pending = actors_[number].pending;
  switch (pending.act) {
    case Act::kEnd:
    case Act::kAsleep: return 0;
    case Act::kLoad: return may_be_older(number, pending.word, pending.weak) ? 2 : 1;
    case Act::kExchange:  // one that succeeds sees the newest value
      return may_be_older(number, pending.word, pending.weak) && history_[pending.word].older != pending.value ? 2 : 1;
    case Act::kWake: {
      const auto count = static_cast<std::uint32_t>(sleepers(pending.word).size());
      return pending.number >= count ? 1 : count;
    }
    case Act::kAwait: return static_cast<std::uint32_t>(std::popcount(signals & pending.number));
    case Act::kChoose: return pending.number;
    case Act::kStore:
    case Act::kUpdate:
    case Act::kSleep:
    case Act::kWoken:
    case Act::kMoment: return 1;
  }
  return 0;
}

void Machine::step(std::size_t number, std::uint32_t choice) {
  Pending& pending = actors_[number].pending;
  if (pending.act == Act::kSleep && words_[pending.word].get() == pending.value) {
    pending.act = Act::kAsleep;
    return;
  }
  if (pending.act == Act::kWake) {
    const auto asleep = sleepers(pending.word);
    for (std::size_t i = 0; i < asleep.size(); ++i) {
      if (pending.number >= asleep.size() || i == choice) actors_[asleep[i]].pending.act = Act::kWoken;
    }
  }
  if (pending.act == Act::kAwait) {
    std::uint32_t left = signals & pending.number;
    for (; choice > 0; --choice) left &= left - 1;
    choice = left & (~left + 1);
  }
  resume(number, choice);
}

std::string Machine::describe(std::size_t number) const {
  const Pending& pending = actors_[number].pending;
  const auto word = [&] { return pending.word < words_.size() ? words_[pending.word].name : std::string("?"); };
  switch (pending.act) {
    case Act::kEnd: return "ends";
    case Act::kLoad: return fmt::format("loads {} ({:#x})", word(), words_[pending.word].get());
    case Act::kStore: return fmt::format("stores {:#x} to {}", pending.value, word());
    case Act::kUpdate:
      return fmt::format("updates {} ({:#x}) by {:#x}", word(), words_[pending.word].get(), pending.value);
    case Act::kExchange:
      return fmt::format("exchanges {:#x} of {} ({:#x})", pending.value, word(), words_[pending.word].get());
    case Act::kSleep: return fmt::format("falls asleep on {} unless it changed", word());
    case Act::kAsleep: return fmt::format("sleeps on {}", word());
    case Act::kWoken: return "wakes up";
    case Act::kWake: return fmt::format("wakes {} on {}", pending.number == 1 ? "one" : "all", word());
    case Act::kMoment: return "goes on";
    case Act::kAwait: return "sees a signal";
    case Act::kChoose: return "chooses";
  }
  return "?";
}

// ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────

// Reads a word's newest value, or the one before.
void Machine::learn(std::size_t word, bool older, std::memory_order order) {
  View& view = actors_[current_].view;
  if (!older) view.words |= std::uint64_t{1} << word;
  if (acquires(order)) view.join(older ? history_[word].older_view : history_[word].newest_view);
}

// A new newest value. `continues`: by a read-modify-write, so that an acquire of it still meets the releases before.
void Machine::put(std::size_t word, std::uint64_t value, std::memory_order order, bool continues) {
  const std::uint64_t bit = std::uint64_t{1} << word;
  History& history = history_[word];
  history.older = words_[word].get();
  history.older_view = history.newest_view;
  history.single_order = order == std::memory_order_seq_cst;
  for (Actor& actor : actors_) actor.view.words &= ~bit;
  for (History& each : history_) {  // of words that nobody touched yet, too: they bring no news of this store
    each.newest_view.words &= ~bit;
    each.older_view.words &= ~bit;
  }
  View& mine = actors_[current_].view;
  mine.words |= bit;
  if (!continues) history.newest_view = {0, 0};
  if (releases(order)) history.newest_view.join(mine);
  history.newest_view.words |= bit;
  words_[word].set(value);
}

std::uint64_t Machine::load(Place place, std::memory_order order) {
  if (!inside_)
    return place.bytes == 8 ? *static_cast<std::uint64_t*>(place.address) : *static_cast<std::uint32_t*>(place.address);
  const std::size_t word = word_of(place);
  const bool weak = order != std::memory_order_seq_cst;
  bool older = false;
  if (!words_[word].quiet || may_be_older(current_, word, weak)) {
    older = pause({.act = Act::kLoad, .weak = weak, .word = static_cast<std::uint8_t>(word)}) != 0;
  }
  const std::uint64_t value = older ? history_[word].older : words_[word].get();
  learn(word, older, order);
  if (words_[word].counter) {
    actors_[current_].counts = static_cast<int>(word);
    actors_[current_].counted = value;
    saw(0);
  } else {
    saw(value);
  }
  return value;
}

void Machine::store(Place place, std::uint64_t value, std::memory_order order) {
  if (!inside_) {
    if (place.bytes == 8) *static_cast<std::uint64_t*>(place.address) = value;
    if (place.bytes == 4) *static_cast<std::uint32_t*>(place.address) = static_cast<std::uint32_t>(value);
    return;
  }
  const std::size_t word = word_of(place);
  if (!words_[word].quiet) {
    pause({.act = Act::kStore, .word = static_cast<std::uint8_t>(word), .value = value});
    saw(0);
  }
  put(word, value, order, false);
}

std::uint64_t Machine::update(Place place, Update what, std::uint64_t value, std::memory_order order) {
  const std::size_t word = word_of(place);
  if (!words_[word].quiet) pause({.act = Act::kUpdate, .word = static_cast<std::uint8_t>(word), .value = value});
  const std::uint64_t before = words_[word].get();
  learn(word, false, order);
  put(word, what == Update::kAdd ? before + value : what == Update::kOr ? before | value : before & value, order, true);
  saw(0);
  return before;
}

bool Machine::compare_exchange(Place place, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                               std::memory_order failure) {
  const std::size_t word = word_of(place);
  const bool older = pause({.act = Act::kExchange,
                            .weak = failure != std::memory_order_seq_cst,
                            .word = static_cast<std::uint8_t>(word),
                            .value = expected}) != 0;
  const std::uint64_t seen = older ? history_[word].older : words_[word].get();
  const bool done = seen == expected;
  learn(word, older, done ? success : failure);
  if (done) put(word, desired, success, true);
  saw(seen);
  expected = seen;
  return done;
}

void Machine::sleep(Place place, std::uint64_t expected) {
  pause({.act = Act::kSleep, .word = static_cast<std::uint8_t>(word_of(place)), .value = expected});
  actors_[current_].counts = -1;
  saw(0);
}

void Machine::wake(Place place, std::uint32_t count) {
  pause({.act = Act::kWake, .word = static_cast<std::uint8_t>(word_of(place)), .number = count});
  saw(0);
}

void Machine::moment() {
  pause({.act = Act::kMoment});
  saw(0);
}

std::uint32_t Machine::choose(std::uint32_t choices) {
  const std::uint32_t answer = pause({.act = Act::kChoose, .number = choices});
  saw(answer);
  return answer;
}

std::uint32_t Machine::await(std::uint32_t mask) {
  const std::uint32_t answer = pause({.act = Act::kAwait, .number = mask});
  saw(answer);
  return answer;
}

// ── cells ────────────────────────────────────────────────────────────────────────────────────────────────────────

void Machine::write_cell(std::size_t cell) {
  View& mine = actors_[current_].view;
  if ((mine.cells & all_bits(cell)) != all_bits(cell)) {
    fail(fmt::format("data race: actor {} writes cell {} and is not ordered after {}", current_, cell,
                     (mine.cells & written_bit(cell)) == 0 ? "the last write" : "a read"));
  }
  const std::uint64_t bit = written_bit(cell);
  for (Actor& actor : actors_) actor.view.cells = (actor.view.cells | all_bits(cell)) & ~bit;
  for (History& history : history_) {
    history.newest_view.cells = (history.newest_view.cells | all_bits(cell)) & ~bit;
    history.older_view.cells = (history.older_view.cells | all_bits(cell)) & ~bit;
  }
  mine.cells |= bit;
}

void Machine::read_cell(std::size_t cell) {
  View& mine = actors_[current_].view;
  if ((mine.cells & written_bit(cell)) == 0) {
    fail(fmt::format("data race: actor {} reads cell {} and is not ordered after the last write", current_, cell));
  }
  const std::uint64_t bit = read_bit(cell, current_);
  for (Actor& actor : actors_) actor.view.cells &= ~bit;
  for (History& history : history_) {
    history.newest_view.cells &= ~bit;
    history.older_view.cells &= ~bit;
  }
  mine.cells |= bit;
}

void Machine::join(std::size_t other) { actors_[current_].view.join(actors_[other].view); }

void Machine::fail(const std::string& what) {
  const bool inside = std::exchange(inside_, false);
  if (violation_.empty()) violation_.assign(what.data(), what.size());
  inside_ = inside;
}

// ── the state ────────────────────────────────────────────────────────────────────────────────────────────────────

namespace {

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& to) : to_(to) { to_.clear(); }
  void put(const void* from, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(from);
    to_.insert(to_.end(), begin, begin + bytes);
  }
  template <class T>
  void put(const T& value) {
    put(&value, sizeof value);
  }

 private:
  std::vector<std::byte>& to_;
};

class Cutter {
 public:
  explicit Cutter(const std::vector<std::byte>& from) : at_(from.data()) {}
  void get(void* to, std::size_t bytes) {
    std::memcpy(to, at_, bytes);
    at_ += bytes;
  }
  template <class T>
  T get() {
    T value;
    get(&value, sizeof value);
    return value;
  }

 private:
  const std::byte* at_;
};

}  // namespace

void Machine::save(Snapshot& snapshot) const {
  Writer out(snapshot.bytes);
  out.put(words_.size());
  for (std::size_t w = 0; w < words_.size(); ++w) {
    out.put(words_[w].get());
  }
  out.put(history_);  // also of words that are touched later: see put()
  out.put(signals);
  for (const auto& bytes : kept_) out.put(bytes.data(), bytes.size());
  for (std::size_t a = 0; a < kMaxActors; ++a) {
    const Actor& actor = actors_[a];
    out.put(actor);
    if (!actor.runs) continue;
    out.put(heap(a), actor.heap_used);
    out.put(actor.context, static_cast<std::size_t>(top(a) - static_cast<std::byte*>(actor.context)));
  }
}

void Machine::restore(const Snapshot& snapshot) {
  Cutter in(snapshot.bytes);
  const auto saved = in.get<std::size_t>();
  for (std::size_t w = 0; w < words_.size(); ++w) {
    words_[w].set(w < saved ? in.get<std::uint64_t>() : words_[w].initial);
  }
  history_ = in.get<decltype(history_)>();
  signals = in.get<std::uint32_t>();
  for (const auto& bytes : kept_) in.get(bytes.data(), bytes.size());
  for (std::size_t a = 0; a < kMaxActors; ++a) {
    Actor& actor = actors_[a];
    actor = in.get<Actor>();
    if (!actor.runs) continue;
    in.get(heap(a), actor.heap_used);
    in.get(actor.context, static_cast<std::size_t>(top(a) - static_cast<std::byte*>(actor.context)));
  }
  violation_.clear();
}

std::uint64_t Machine::fingerprint() const {
  std::uint64_t hash = mix(0, signals);
  // What everybody is ordered after is news to nobody: it makes no difference in what a load may bring.
  View known;
  for (const Actor& actor : actors_) {
    if (!actor.ever) continue;
    known.cells &= actor.view.cells;
    known.words &= actor.view.words;
  }
  const auto add = [&](const View& view) {
    hash = mix(hash, view.cells & ~known.cells);
    hash = mix(hash, view.words & ~known.words);
  };
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const bool counter = words_[w].counter;
    if (!counter) hash = mix(hash, words_[w].get());
    add(history_[w].newest_view);
    if ((known.words >> w & 1) != 0) continue;
    hash = mix(hash, history_[w].single_order ? 1 : 0);
    if (!counter) hash = mix(hash, history_[w].older);
    add(history_[w].older_view);
  }
  const auto add_bytes = [&](const std::byte* bytes, std::size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
      std::uint64_t eight;
      std::memcpy(&eight, bytes, 8);
      hash = mix(hash, eight);
    }
    for (; count > 0; ++bytes, --count) hash = mix(hash, static_cast<std::uint64_t>(*bytes));
  };
  for (const auto& bytes : kept_) add_bytes(bytes.data(), bytes.size());
  for (std::size_t a = 0; a < kMaxActors; ++a) {
    const Actor& actor = actors_[a];
    if (!actor.ever) continue;
    hash = mix(hash, static_cast<std::uint64_t>(actor.runs) << 8 | static_cast<std::uint64_t>(actor.pending.act));
    add(actor.view);
    if (!actor.runs) continue;
    hash = mix(hash, actor.past);
    if (actor.counts >= 0) {
      const bool same = words_[static_cast<std::size_t>(actor.counts)].get() == actor.counted;
      hash = mix(hash, static_cast<std::uint64_t>(actor.counts) * 2 + (same ? 1 : 0));
    }
    add_bytes(heap(a), actor.heap_used);
  }
  return hash;
}

}  // namespace feedring::model
