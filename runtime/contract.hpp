// SPDX-License-Identifier: Apache-2.0
// THE CONTRACT: everything that two processes agree on by looking at the same memory. This header alone states sizes,
// offsets and the meaning of words; it depends on nothing but <atomic>. ring.hpp holds the moves.
//
//  ring segment: one memfd, one ring, one owner (a rank); P producers fill it
//  ┌────────────┬──────────────────┬──────────────┬─────────────────┬──────────────────────────────────────────────┐
//  │ RingHeader │ S slot controls  │ S·T task     │ S·T failure     │ payload of slot 0 … slot S-1 (page aligned)  │
//  │   4096 B   │ (word · ticket)  │ lines        │ records         │ images · labels · sample_ids · valid · status│
//  └────────────┴──────────────────┴──────────────┴─────────────────┴──────────────────────────────────────────────┘
//
//  pool segment: one memfd a pool
//  ┌────────────┬────────────────────────────────────────┐
//  │ PoolHeader │ ProducerBlock 0 … kMaxProducers-1      │
//  │ work event │ what each has in hand, its counters    │
//  └────────────┴────────────────────────────────────────┘
//
//  store segment: one memfd for the pictures that are kept, which producers and the supervisor map, and no rank
//  ┌──────────────────────────┬──────────────────────────────────────────────┐
//  │ N store words            │ entry 0 … entry N-1 (page aligned)           │
//  │ empty · claimant · done  │ 8 bit interleaved RGB, entry_stride bytes    │
//  └──────────────────────────┴──────────────────────────────────────────────┘
//
//  seek segment: one memfd for the seek indices of JPEGs, mapped by the same
//  ┌──────────┬───────────────┬──────────────────────────┬───────────────────────────────┐
//  │ SeekHead │ N store words │ N places: where a record │ records: SeekRecord, entries, │
//  │   64 B   │ as in a store │ begins, 8 B each         │ as they came                  │
//  └──────────┴───────────────┴──────────────────────────┴───────────────────────────────┘
//
//  slot word                                               task word
//  63            34 33  32 31                0             63      46 45            16 15          0
//  ┌───────────────┬──────┬──────────────────┐             ┌─────────┬────────────────┬─────────────┐
//  │    turn:30    │phase │ done: 1 bit/task │             │    0    │ turns done:30  │ claimant:16 │
//  └───────────────┴──────┴──────────────────┘             └─────────┴────────────────┴─────────────┘
//
//            offer (owner)                lease (owner, when all bits are set)
//   Idle(n-1) ───────────▶ Offered(n) ─────────────────────────▶ Leased(n)
//      ▲                      │  a task: {n-1, nobody} ─claim (p)─▶ {n-1, p} ─finish (p)─▶ {n, nobody}
//      │                      │ drop (owner, a cancelled slot whose bits are all set)        │
//      └──────────────────────┴───────────────── release (owner, any thread) ◀──────────────┘
//
// Zero means free: fresh pages are zero, so a new segment is a valid, empty ring whose first offer makes turn 1.
// Whatever a peer can write may hold anything: copy a word, validate the copy, use the copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace feedring::contract {

inline constexpr std::uint32_t kProtocol = 5;   ///< raise it when the meaning of a word changes and no size does
inline constexpr std::size_t kLine = 64;        ///< a writer's hot words have cache lines of their own
inline constexpr std::size_t kLinePair = 128;   ///< what x86 prefetchers fetch together: who spins on one line has both
inline constexpr std::size_t kPage = 4096;      ///< segments and payloads are laid out in these
inline constexpr std::uint32_t kMaxTasks = 32;  ///< the width of `done`
inline constexpr std::uint32_t kMaxSlots = 1024;
inline constexpr std::uint32_t kMaxProducers = 256;  ///< a node's; the width of an event's waiter mask
inline constexpr std::uint32_t kMaxTensors = 16;
inline constexpr std::uint32_t kMaxDimensions = 5;  ///< of a tensor, its rows included
inline constexpr std::uint32_t kMaxSuspects = 256;

// ── the slot word ────────────────────────────────────────────────────────────────────────────────────────────────

enum class Phase : std::uint8_t { kIdle = 0, kOffered = 1, kLeased = 2 };

inline constexpr std::uint32_t kTurnMask = (1U << 30) - 1;  ///< turns compare modulo 2^30

struct SlotWord {
  std::uint32_t turn;
  Phase phase;
  std::uint32_t done;

  static constexpr SlotWord unpack(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 34), static_cast<Phase>((word >> 32) & 3),
            static_cast<std::uint32_t>(word)};
  }
  [[nodiscard]] constexpr std::uint64_t pack() const noexcept {
    return (std::uint64_t{turn & kTurnMask} << 34) | (std::uint64_t{static_cast<std::uint8_t>(phase)} << 32) | done;
  }
  bool operator==(const SlotWord&) const = default;
};

/// All T bits; 1 <= tasks <= 32.
constexpr std::uint32_t full(std::uint32_t tasks) noexcept { return ~0U >> (kMaxTasks - tasks); }
constexpr std::uint32_t next_turn(std::uint32_t turn) noexcept { return (turn + 1) & kTurnMask; }

/// The legal moves of a slot's phase and who makes them; the tests enumerate this table.
enum class Actor : std::uint8_t { kOwner, kOwnersThread };
struct PhaseMove {
  Phase from;
  Phase to;
  Actor actor;
  const char* verb;
};
inline constexpr PhaseMove kPhaseMoves[] = {
    {Phase::kIdle, Phase::kOffered, Actor::kOwner, "offer"},
    {Phase::kOffered, Phase::kLeased, Actor::kOwner, "lease"},
    {Phase::kOffered, Phase::kIdle, Actor::kOwner, "drop"},
    {Phase::kLeased, Phase::kIdle, Actor::kOwnersThread, "release"},
};

// ── the task word ────────────────────────────────────────────────────────────────────────────────────────────────

using Claimant = std::uint16_t;
inline constexpr Claimant kNobody = 0;      ///< zero, because fresh pages are zero
inline constexpr Claimant kOwner = 0xFFFF;  ///< the ring's rank, which claims only to cancel; 1 … kMaxProducers else

struct TaskWord {
  std::uint32_t turns;  ///< turns in which this task was done
  Claimant claimant;

  static constexpr TaskWord unpack(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 16) & kTurnMask, static_cast<Claimant>(word)};
  }
  [[nodiscard]] constexpr std::uint64_t pack() const noexcept {
    return (std::uint64_t{turns & kTurnMask} << 16) | claimant;
  }
  bool operator==(const TaskWord&) const = default;
};

/// What a sweep makes of a task word that a dead claimant left: the work goes back to nobody, or, where its bit is set
/// or the slot moved on, is counted as done.
constexpr TaskWord swept(TaskWord left, SlotWord slot, std::uint32_t task) noexcept {
  const bool unfinished = slot.turn == next_turn(left.turns) && (slot.done & (1U << task)) == 0;
  return {unfinished ? left.turns : next_turn(left.turns), kNobody};
}

/// Rows [begin, end) of task k of T over B rows, or parts of rows where rows have several (RingShape::parts). A task
/// may be empty (B < T); it is claimed and finished all the same.
struct Rows {
  std::uint32_t begin;
  std::uint32_t end;
};
constexpr Rows rows_of_task(std::uint32_t task, std::uint32_t tasks, std::uint32_t rows) noexcept {
  return {static_cast<std::uint32_t>(std::uint64_t{rows} * task / tasks),
          static_cast<std::uint32_t>(std::uint64_t{rows} * (task + 1) / tasks)};
}

// ── the store word ───────────────────────────────────────────────────────────────────────────────────────────────

/// Of one entry of a store: kStoreEmpty; a claimant from 1 to kMaxProducers, which alone writes the entry; kStoreDone,
/// from when on nobody writes it any more. Whatever else it holds is taken for another's claim: who meets that makes
/// its own pixels.
///
///   empty ─claim (p)─▶ p ─publish (p)─▶ done        p ─give back (p)─▶ empty        p ─sweep (supervisor)─▶ empty
inline constexpr std::uint32_t kStoreEmpty = 0;  ///< zero, because fresh pages are zero
inline constexpr std::uint32_t kStoreDone = 0x10000;

/// Of a seek segment. Its words are store words; an entry is a place, counted in bytes from the first record, and the
/// record there.
template <template <class> class Atom>
struct alignas(kLine) SeekHead {
  /// Bytes of records that were handed out, in multiples of 8. Only grows, and may exceed what there is: such a piece
  /// is nobody's. A piece that a death left is not handed out again.
  Atom<std::uint64_t> taken;
};
/// Before its entries (producers/decode/seekjpeg/entry.hpp).
struct SeekRecord {
  std::uint64_t modified_ns;  ///< of the file when it was read: mtime, since 1970. Another one: the record is of no use
  std::uint64_t entries;
};

// ── what a slot holds ────────────────────────────────────────────────────────────────────────────────────────────

/// What became of one row, or part of one; the `status` tensor holds a byte for each.
enum class RowStatus : std::uint8_t {
  kMissing = 0,  ///< nobody wrote it in this turn
  kOk = 1,
  kReplaced = 2,   ///< another sample of its class stands in for a failed one
  kZeroed = 3,     ///< failed: zeros, valid = 0
  kFailed = 4,     ///< failed under on_error = "raise": the rank raises
  kCancelled = 5,  ///< the ticket went stale before the row was decoded
};

/// What the owner wants in a slot: written before the offer, stable from a claim to its finish. Without a claim it may
/// be read as a hint (choosing what to claim, reading files ahead): then any word may be old or of another turn, which
/// is why each is an atomic; all accesses are relaxed, the slot word orders them.
template <template <class> class Atom>
struct Ticket {
  Atom<std::uint64_t> sequence;  ///< counts up by one from ticket to ticket; delivery follows it
  Atom<std::uint64_t> plan;      ///< stale when the ring's plan id is larger
  Atom<std::uint64_t> seed;
  Atom<std::uint64_t> epoch;
  Atom<std::uint64_t> first;  ///< first ordinal of the valid rows
  Atom<std::uint32_t> valid;  ///< rows that are `first + row`; the rest repeats (runtime/schedule.hpp)
  Atom<std::uint32_t> rows;
};

/// Why the first failed row (or part of one) of a task failed; read by the rank that raises. UTF-8, cut to fit.
struct FailureRecord {
  std::uint32_t row;     ///< or, of several parts a row, the part: counted through all rows
  std::uint32_t length;  ///< bytes of text; 0: no failure in this turn
  char text[504];
};

/// One event count (runtime/event_count.hpp): bit p of `waiters` is set while sleeper p may sleep.
template <template <class> class Atom>
struct alignas(kLine) Event {
  Atom<std::uint32_t> sequence;
  std::uint32_t unused;
  Atom<std::uint64_t> waiters[kMaxProducers / 64];
};

struct TensorEntry {
  char name[24];                          ///< NUL-terminated
  std::uint32_t dtype;                    ///< feedring::Dtype
  std::uint32_t dimensions;               ///< 1 … kMaxDimensions
  std::uint64_t shape[kMaxDimensions];    ///< shape[0] is the rows of a slot
  std::uint64_t strides[kMaxDimensions];  ///< in elements
  std::uint64_t offset;                   ///< bytes from the start of a slot's payload; a multiple of 64
  std::uint64_t row_bytes;  ///< bytes of one row; rows are contiguous, row r lies at offset + r·row_bytes
};

/// What the creator writes once, before the stamp.
struct RingShape {
  std::uint64_t bytes;  ///< of the whole segment
  std::uint32_t slots;
  std::uint32_t tasks;  ///< T of each slot
  std::uint32_t rows;   ///< B of each slot
  std::uint32_t tensors;
  /// What a row is made of and tasks are cut from: 1 for samples; for episodes, which hold many, their images. The
  /// `status` tensor has a byte for each.
  std::uint32_t parts;
  std::uint32_t unused;
  std::uint64_t slots_offset;     ///< slot 0's control; the others follow
  std::uint64_t tasks_offset;     ///< the line of task 0 of slot 0; task k of slot s is number s·T + k
  std::uint64_t failures_offset;  ///< the failure record of task 0 of slot 0; numbered like the task lines
  std::uint64_t payload_offset;   ///< slot 0's payload
  std::uint64_t payload_stride;
  TensorEntry tensor[kMaxTensors];
};

/// All that the tasks of a slot are cut from.
constexpr std::uint32_t units_of(const RingShape& shape) noexcept { return shape.rows * shape.parts; }

template <template <class> class Atom>
struct RingHeader {
  std::uint64_t magic;
  Atom<std::uint64_t> stamp;  ///< fingerprint(); written last by the creator, so that a half-made ring never attaches
  RingShape shape;
  // The owner's words, read by producers as hints when they choose what to claim; `plan` also ends stale work.
  alignas(kLine) Atom<std::uint64_t> plan;  ///< current plan id
  Atom<std::uint64_t> next;                 ///< sequence that the owner delivers next
  Atom<std::uint32_t> waiting;              ///< 1 while the owner waits for `next`
  Atom<std::uint32_t> iterated;             ///< 0 until the owner first asked for a batch
  alignas(kLine) Event<Atom> ready;         ///< the owner sleeps here
  // The owner's counters, read from outside.
  alignas(kLine) Atom<std::uint64_t> batches;
  Atom<std::uint64_t> samples;
  Atom<std::uint64_t> wait_ns;
  Atom<std::uint64_t> futex_calls;
};

/// A slot's word and what its owner wants in it, in one line: who sees the offer has the ticket. Task words lie
/// elsewhere, so that a claim takes no line from those who look for offers.
template <template <class> class Atom>
struct alignas(kLinePair) SlotControl {
  Atom<std::uint64_t> word;
  Ticket<Atom> ticket;
};
template <template <class> class Atom>
struct alignas(kLine) TaskLine {
  Atom<std::uint64_t> word;
};

// ── the pool segment ─────────────────────────────────────────────────────────────────────────────────────────────

/// What a producer does with the sample it has in hand.
enum class WorkPhase : std::uint32_t { kClaim = 0, kRead = 1, kDecode = 2 };

/// One producer's line of what it has in hand, written by it alone, read by the supervisor.
template <template <class> class Atom>
struct alignas(kLine) InHand {
  Atom<std::uint64_t> since_ns;  ///< CLOCK_MONOTONIC when the claim or the sample was taken up; 0: nothing in hand
  Atom<std::uint64_t> sample;    ///< index into the feed's data set
  Atom<std::uint32_t> feed;
  Atom<std::uint32_t> phase;  ///< WorkPhase
};

template <template <class> class Atom>
struct alignas(kLine) ProducerCounters {
  Atom<std::uint64_t> samples;
  Atom<std::uint64_t> tasks;
  Atom<std::uint64_t> failures;
  Atom<std::uint64_t> bytes_read;
  Atom<std::uint64_t> read_wait_ns;  ///< the decoder waited for the reader
  Atom<std::uint64_t> work_ns;       ///< decode and transform
  Atom<std::uint64_t> idle_ns;       ///< slept for work
  Atom<std::uint64_t> futex_calls;
};

template <template <class> class Atom>
struct ProducerBlock {
  InHand<Atom> in_hand;
  ProducerCounters<Atom> counters;
};

/// A sample that was in hand when a producer crashed; written by the supervisor, read by producers.
template <template <class> class Atom>
struct Suspect {
  Atom<std::uint64_t> sample;
  Atom<std::uint32_t> feed;
  Atom<std::uint32_t> crashes;
};

template <template <class> class Atom>
struct PoolHeader {
  std::uint64_t magic;
  Atom<std::uint64_t> stamp;
  std::uint64_t bytes;
  alignas(kLine) Event<Atom> work;  ///< C++ producers sleep here
  // Why the pool cannot serve any more, for every rank of the node: text first, then `broken` = feedring::ErrorKind
  // + 1.
  alignas(kLine) Atom<std::uint32_t> broken;
  std::uint32_t why_length;
  char why[504];
  alignas(kLine) Atom<std::uint32_t> suspects;  ///< entries in use
  alignas(kLine) Suspect<Atom> suspect[kMaxSuspects];
  alignas(kLine) ProducerBlock<Atom> producer[kMaxProducers];
};

// ── the fingerprint ──────────────────────────────────────────────────────────────────────────────────────────────

inline constexpr std::uint64_t kRingMagic = 0x31474e4952444546;  ///< "FEDRING1"
inline constexpr std::uint64_t kPoolMagic = 0x314c4f4f50444546;  ///< "FEDPOOL1"

/// FNV-1a over the sizes and main offsets above and the protocol number: builds with another layout refuse each other
/// at attach instead of reading each other's words wrongly. tests/abi compares every field with a recorded dump and
/// demands another kProtocol for any difference, so that a swap of two fields of one size shows here too.
constexpr std::uint64_t fingerprint() noexcept {
  using Header = RingHeader<std::atomic>;
  using Pool = PoolHeader<std::atomic>;
  using T = Ticket<std::atomic>;
  const std::uint64_t parts[] = {kProtocol,
                                 sizeof(Header),
                                 sizeof(RingShape),
                                 sizeof(TensorEntry),
                                 sizeof(SlotControl<std::atomic>),
                                 sizeof(TaskLine<std::atomic>),
                                 sizeof(T),
                                 sizeof(FailureRecord),
                                 sizeof(Event<std::atomic>),
                                 sizeof(Pool),
                                 sizeof(ProducerBlock<std::atomic>),
                                 offsetof(Header, shape),
                                 offsetof(Header, plan),
                                 offsetof(Header, ready),
                                 offsetof(Header, batches),
                                 offsetof(RingShape, parts),
                                 offsetof(RingShape, tasks_offset),
                                 offsetof(RingShape, tensor),
                                 offsetof(SlotControl<std::atomic>, ticket),
                                 offsetof(T, plan),
                                 offsetof(T, first),
                                 offsetof(T, rows),
                                 offsetof(Pool, work),
                                 offsetof(Pool, broken),
                                 offsetof(Pool, suspect),
                                 offsetof(Pool, producer)};
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint64_t part : parts) {
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((part >> shift) & 0xff)) * 0x100000001b3;
  }
  return hash;
}

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free,
              "a lock hidden in an atomic would be a lock between processes");
static_assert(sizeof(std::atomic<std::uint64_t>) == 8 && sizeof(std::atomic<std::uint32_t>) == 4,
              "atomics lie in shared memory as their plain types do");
static_assert(sizeof(RingHeader<std::atomic>) <= kPage, "slot control begins on the second page");
static_assert(sizeof(Event<std::atomic>) == kLine, "one line");
static_assert(offsetof(SlotControl<std::atomic>, ticket) + sizeof(Ticket<std::atomic>) <= kLine,
              "one line crosses from owner to producer, not two");
static_assert(sizeof(SlotControl<std::atomic>) == kLinePair, "who spins on a slot does not take its neighbour's line");
static_assert(sizeof(TaskLine<std::atomic>) == kLine, "two producers never write one line");
static_assert(sizeof(FailureRecord) == 512, "a whole number of lines");
static_assert(SlotWord{}.pack() == 0 && TaskWord{}.pack() == 0, "all-zero memory is a valid empty ring");

}  // namespace feedring::contract
