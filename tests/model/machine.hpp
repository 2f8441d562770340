// SPDX-License-Identifier: Apache-2.0
// A machine of a few actors and some words that they share. Each actor is a fiber that stops before every access to a
// shared word; whoever drives the machine (explorer.hpp) says who makes its access next, or dies instead. The whole
// state can be saved, put back, and told by a number, so that all orders of a small program can be tried.
//
// Memory is weaker than what x86 shows. Each word has its newest value and the one before it; a load that is not
// ordered after the newest store may return either. Release, acquire and read-modify-write order accesses as C++20
// says ([atomics.order], [intro.races]); a seq_cst load sees the newest value where a seq_cst store wrote it. Not
// modelled: older values than the last two, and stores that overtake loads before them.
//
// Plain data (a ticket's content, samples) are cells: the machine knows who is ordered after the last write of a cell
// and after the last read of each actor, which is all it takes to find every data race in the order that is tried. So
// accesses to cells need not be interleaved.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace feedring::model {

inline constexpr std::size_t kMaxActors = 7;  ///< a cell has a bit for each one's last read
inline constexpr std::size_t kMaxCells = 8;
inline constexpr std::size_t kMaxWords = 64;

struct Place {
  void* address;
  std::size_t bytes;
};
enum class Update : std::uint8_t { kAdd, kOr, kAnd };

/// What an actor is about to do.
enum class Act : std::uint8_t {
  kEnd,
  kLoad,
  kStore,
  kUpdate,
  kExchange,
  kSleep,
  kAsleep,
  kWoken,
  kWake,
  kMoment,
  kAwait,
  kChoose
};
struct Pending {
  Act act = Act::kEnd;
  bool weak = false;  ///< of kLoad, kExchange: not seq_cst
  std::uint8_t word = 0;
  std::uint32_t number = 0;  ///< of kWake: how many at most; of kAwait: the signals; of kChoose: the choices
  std::uint64_t value = 0;   ///< of kStore, kUpdate: the operand; of kSleep, kExchange: what is expected
};

/// What somebody is ordered after: of cell c, byte c: bit 0 its last write, bit 1 + a the last read of actor a; of word
/// w, bit w: its newest store.
struct View {
  std::uint64_t cells = ~0ULL;
  std::uint64_t words = ~0ULL;
  void join(const View& other) {
    cells |= other.cells;
    words |= other.words;
  }
};

class Machine {
 public:
  using Program = std::function<void()>;

  /// A new machine whose words lie in `shared`. A word is part of the state from its first access on; until then it
  /// must not change.
  void reset(std::span<std::byte> shared);
  /// These bytes belong to the state, without being words.
  void keep(std::span<std::byte> bytes);
  /// Accesses to these words are no points where others may come in between; only a choice of values is.
  void make_quiet(const void* begin, const void* end);
  /// These words only count: what counts is whether one is still what a sleeper saw, not how far it has come.
  void make_counter(const void* begin, const void* end);
  /// How words are called in trails: `name` and the offset from `begin`.
  void name(const void* begin, const void* end, const std::string& name);

  /// Starts actor `number` (again). Its program must be restartable from nothing but shared words and its own memory.
  void start(std::size_t number, const Program& program, const View& after);
  void kill(std::size_t number);
  [[nodiscard]] bool runs(std::size_t number) const { return actors_[number].runs; }
  [[nodiscard]] const Pending& pending(std::size_t number) const { return actors_[number].pending; }
  [[nodiscard]] const View& view(std::size_t number) const { return actors_[number].view; }
  /// How many values `choice` may have now; 0: the actor cannot go on.
  [[nodiscard]] std::uint32_t choices(std::size_t number) const;
  /// Lets an actor make its access and go on to its next one. `choice`: of a weak load 1 is the older value, of kChoose
  /// the answer, of kWake the sleeper to be woken, of kAwait the signal.
  void step(std::size_t number, std::uint32_t choice);

  // ── for actors, inside their programs ──
  std::uint64_t load(Place place, std::memory_order order);
  void store(Place place, std::uint64_t value, std::memory_order order);
  /// Returns the value before; who uses it says so to used().
  std::uint64_t update(Place place, Update what, std::uint64_t value, std::memory_order order);
  void used(std::uint64_t value) { saw(value); }
  bool compare_exchange(Place place, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                        std::memory_order failure);
  void sleep(Place place, std::uint64_t expected);
  void wake(Place place, std::uint32_t count);
  /// Nothing but a point at which others may come in between, and death.
  void moment();
  [[nodiscard]] std::uint32_t choose(std::uint32_t choices);
  /// Waits for a signal of those in `mask`; returns the bit of one.
  [[nodiscard]] std::uint32_t await(std::uint32_t mask);
  /// All that this actor knows is in `local`, its own memory, and a counter's value: forgets the values that led here.
  /// The more of these, the fewer states.
  void checkpoint(std::uint64_t local);
  template <class... Locals>
  void at(int place, Locals... locals) {
    std::uint64_t hash = static_cast<std::uint64_t>(place);
    ((hash = (hash ^ static_cast<std::uint64_t>(locals)) * 0x9e3779b97f4a7c15 + 1), ...);
    checkpoint(hash);
  }
  void write_cell(std::size_t cell);
  void read_cell(std::size_t cell);
  /// This actor is now ordered after all that another did: its death is confirmed.
  void join(std::size_t other);
  /// Something is wrong: the first of these is the verdict.
  void fail(const std::string& what);
  [[nodiscard]] std::size_t self() const { return current_; }

  /// What kAwait waits for, a bit each; part of the state.
  std::uint32_t signals = 0;

  // ── for who drives it ──
  struct Snapshot {
    std::vector<std::byte> bytes;
  };
  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
  [[nodiscard]] std::uint64_t fingerprint() const;
  [[nodiscard]] const std::string& violation() const { return violation_; }
  /// What an actor is about to do, in words.
  [[nodiscard]] std::string describe(std::size_t number) const;

  // Memory of the actors, which comes and goes with the state (operator new, inside a program).
  [[nodiscard]] void* allocate(std::size_t bytes);
  [[nodiscard]] static bool owns(const void* memory);
  [[nodiscard]] static bool inside() { return inside_; }

 private:
  static constexpr std::size_t kStack = 32768;
  static constexpr std::size_t kHeap = 8192;

  struct Word {
    std::uint64_t* wide = nullptr;  // one of the two is set
    std::uint32_t* narrow = nullptr;
    bool quiet = false;
    bool counter = false;
    std::uint64_t initial = 0;
    std::string name;
    [[nodiscard]] std::uint64_t get() const { return wide != nullptr ? *wide : *narrow; }
    void set(std::uint64_t value) const {
      if (wide != nullptr) *wide = value;
      if (narrow != nullptr) *narrow = static_cast<std::uint32_t>(value);
    }
  };
  struct History {  // of one word; its newest value lies in the memory itself
    std::uint64_t older = 0;
    bool single_order = true;  // the newest store was seq_cst
    View newest_view;          // what an acquire of the newest value brings
    View older_view;
  };
  struct Actor {
    bool runs = false;
    bool ever = false;  // has it ever run
    Pending pending;
    View view;
    std::uint64_t past = 0;  // all values that it saw since the last checkpoint
    std::uint64_t counted = 0;
    int counts = -1;          // the counter in which it saw `counted`
    void* context = nullptr;  // on its stack, valid while it does not run
    std::size_t heap_used = 0;
  };

  [[nodiscard]] std::size_t word_of(Place place);
  std::uint32_t pause(const Pending& pending);
  void saw(std::uint64_t value);
  [[nodiscard]] bool may_be_older(std::size_t actor, std::size_t word, bool weak) const;
  void learn(std::size_t word, bool older, std::memory_order order);
  void put(std::size_t word, std::uint64_t value, std::memory_order order, bool continues);
  void resume(std::size_t number, std::uint32_t answer);
  [[nodiscard]] std::vector<std::size_t> sleepers(std::size_t word) const;
  [[nodiscard]] static std::byte* top(std::size_t number) { return stacks_ + (number + 1) * kStack; }
  [[nodiscard]] static std::byte* heap(std::size_t number) { return heaps_ + number * kHeap; }

  std::span<std::byte> shared_;
  std::vector<std::uint16_t> word_at_;  // by offset / 4, plus one
  std::vector<Word> words_;
  std::vector<std::span<std::byte>> kept_;
  struct Range {
    const void* begin;
    const void* end;
    enum class What : std::uint8_t { kName, kQuiet, kCounter } what;
    std::string name;
  };
  std::vector<Range> ranges_;

  // The state, beside the words' values and what is kept.
  std::array<History, kMaxWords> history_;
  std::array<Actor, kMaxActors> actors_;
  std::array<Program, kMaxActors> programs_;

  alignas(64) static inline std::byte stacks_[kMaxActors * kStack];
  alignas(64) static inline std::byte heaps_[kMaxActors * kHeap];
  void* driver_ = nullptr;  // the context of step()
  std::size_t current_ = 0;
  static inline bool inside_ = false;  // static: asked before there is a machine
  std::uint32_t answer_ = 0;
  std::string violation_;
};

/// The one machine of the process.
Machine& machine();

}  // namespace feedring::model
