// SPDX-License-Identifier: Apache-2.0
// The speed of the core, between processes. Whatever is compared runs in turn in each repetition; the counters are what
// ring.py makes ratios of. Times are nanoseconds unless the name says otherwise.
#include <benchmark/benchmark.h>

#include <boost/lockfree/spsc_queue.hpp>
#include <cstring>
#include <list>
#include <string>
#include <thread>
#include <vector>
#if __has_include(<readerwriterqueue/readerwriterqueue.h>)
#include <readerwriterqueue/readerwriterqueue.h>
#define FEEDRING_HAVE_READERWRITERQUEUE 1
#endif

#include "bench/landmarks.hpp"
#include "runtime/event_count.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring::bench {
namespace {

// Not std::atomic itself: so the fault points of a build with tests do nothing here, as in a build without them.
template <class T>
struct Atom : std::atomic<T> {
  using std::atomic<T>::atomic;
};
using BenchRing = Ring<Atom>;
using BenchEvent = EventCount<Atom>;
using contract::Phase;
using contract::SlotWord;

const cpu_set_t kAll = allowed();

/// A ring in a memfd; whoever uses it maps it anew, as a pool's processes do.
class Segment {
 public:
  Segment(std::uint32_t slots, std::uint32_t tasks, std::uint32_t rows, std::uint64_t side)
      : shape_(lay_out_ring(slots, tasks, rows, {{"images", Dtype::kUint8, {3, side, side}, {}}})),
        fd_(create_memfd("feedring-bench", shape_.bytes)) {
    create_ring(Mapping(fd_.get(), Mapping::Access::kReadWrite).data(), shape_);
  }
  [[nodiscard]] Mapping map() const {
    Mapping mapping(fd_.get(), Mapping::Access::kReadWrite);
    mapping.populate(0, mapping.size());
    return mapping;
  }
  [[nodiscard]] BenchRing ring(const Mapping& mapping) const { return {mapping.data(), shape_}; }

 private:
  contract::RingShape shape_;
  UniqueFd fd_;
};

Want want(const BenchRing& ring, std::uint64_t sequence) {
  return {sequence, 0, 1, 0, sequence, ring.shape().rows, ring.shape().rows};
}

// ── hand-off: there and back, both sides spin ────────────────────────────────────────────────────────────────────

struct Lines {
  alignas(64) std::atomic<std::uint64_t> word{0};
  std::atomic<std::uint64_t> same[6]{};
  alignas(64) std::atomic<std::uint64_t> next[6]{};
};
enum class Beside { kNothing, kSameLine, kNextLine };

/// A bare cache line: each side waits for the other's number in it and writes the next. Beside it the owner may write a
/// ticket, in the same line or in the next, which the other reads before it answers: what that costs at the least.
double bare_line(Beside beside) {
  auto& lines = shared<Lines>();
  auto& ticket = beside == Beside::kSameLine ? lines.same : lines.next;
  const Child peer([&] {
    pin(kAll, 1);
    for (std::uint64_t n = 1; n < std::uint64_t{2} * kAllTrips; n += 2) {
      spin_until([&] { return lines.word.load(std::memory_order_acquire) == n; });
      for (const auto& part : ticket)
        if (beside != Beside::kNothing) benchmark::DoNotOptimize(part.load(std::memory_order_relaxed));
      lines.word.store(n + 1, std::memory_order_release);
    }
  });
  std::uint64_t n = 1;
  return trip_ns([&] {
    for (auto& part : ticket)
      if (beside != Beside::kNothing) part.store(n, std::memory_order_relaxed);
    lines.word.store(n, std::memory_order_release);
    spin_until([&] { return lines.word.load(std::memory_order_acquire) == n + 1; });
    n += 2;
  });
}

/// The owner offers, the producer claims, reads the ticket and finishes, the owner sees it ready; it leases and
/// releases a batch while the next is under way, as ranks do. `there_only`: who has read the ticket answers on a bare
/// line.
double hand_off(bool there_only) {
  constexpr std::uint32_t kSlots = 4;
  const Segment segment(kSlots, 1, 1, 8);
  auto& answer = shared<Lines>().word;
  const Child producer([&] {
    pin(kAll, 1);
    const Mapping mapping = segment.map();
    const BenchRing ring = segment.ring(mapping);
    for (std::uint32_t trip = 0; trip < kAllTrips; ++trip) {
      const std::uint32_t slot = trip % kSlots;
      SlotWord word{};
      spin_until([&] {
        word = ring.slot(slot);
        return word.phase == Phase::kOffered && word.turn == trip / kSlots + 1;
      });
      if (!there_only && !ring.claim(slot, 0, 1, word)) std::abort();
      benchmark::DoNotOptimize(ring.ticket(slot));
      if (there_only) {
        answer.store(trip + 1, std::memory_order_release);
      } else {
        ring.finish(slot, 0, word.turn);
      }
    }
  });
  const Mapping mapping = segment.map();
  const BenchRing ring = segment.ring(mapping);
  std::uint32_t trip = 0;
  return trip_ns([&] {
    const std::uint32_t slot = trip % kSlots;
    ring.offer(slot, want(ring, trip));
    if (trip++ != 0) {
      ring.lease((trip - 2) % kSlots);
      ring.release((trip - 2) % kSlots);
    }
    spin_until(
        [&] { return there_only ? answer.load(std::memory_order_acquire) == trip : ring.full(ring.slot(slot)); });
  });
}

template <class Queue>
struct TwoQueues {
  alignas(64) Queue there;
  alignas(64) Queue back;
  void answer() {
    pin(kAll, 1);
    std::uint64_t value = 0;
    for (std::uint32_t trip = 0; trip < kAllTrips; ++trip) {
      spin_until([&] { return there.pop(value); });
      spin_until([&] { return back.push(value); });
    }
  }
  double ask() {
    std::uint64_t value = 0;
    return trip_ns([&] {
      spin_until([&] { return there.push(value); });
      spin_until([&] { return back.pop(value); });
    });
  }
};
template <class Queue>
double queue_between_processes() {
  auto& queues = shared<TwoQueues<Queue>>();
  const Child peer([&] { queues.answer(); });
  return queues.ask();
}
#ifdef FEEDRING_HAVE_READERWRITERQUEUE
struct Moodycamel : moodycamel::ReaderWriterQueue<std::uint64_t> {
  Moodycamel() : ReaderWriterQueue(64) {}
  bool push(std::uint64_t value) { return try_enqueue(value); }
  bool pop(std::uint64_t& value) { return try_dequeue(value); }
};
#endif

void hand_offs(benchmark::State& state) {
  pin(kAll, 0);
  for ([[maybe_unused]] auto _ : state) {
    auto& counters = state.counters;
    const double bare = bare_line(Beside::kNothing) / 2;
    counters["bare_ticket_same_line"] = bare_line(Beside::kSameLine) - bare;
    counters["bare_ticket_next_line"] = bare_line(Beside::kNextLine) - bare;
    counters["feedring"] = hand_off(false) / 2;
    counters["offer"] = hand_off(true) - bare;
    counters["rigtorp_style"] = queue_between_processes<RigtorpStyleQueue>() / 2;
    counters["boost_spsc"] =
        queue_between_processes<boost::lockfree::spsc_queue<std::uint64_t, boost::lockfree::capacity<64>>>() / 2;
#ifdef FEEDRING_HAVE_READERWRITERQUEUE
    TwoQueues<Moodycamel> queues;  // its blocks are the heap's, so between threads
    std::jthread peer([&] { queues.answer(); });
    counters["moodycamel_threads"] = queues.ask() / 2;
#endif
    // Again, so that a core that changed its speed meanwhile does not pass for a slow ring.
    counters["bare"] = (bare + bare_line(Beside::kNothing) / 2) / 2;
  }
  sched_setaffinity(0, sizeof kAll, &kAll);
}
BENCHMARK(hand_offs)->Iterations(1);

// ── claims ───────────────────────────────────────────────────────────────────────────────────────────────────────

struct Start {
  std::atomic<std::uint32_t> here{0}, go{0}, stop{0};
  std::atomic<std::uint64_t> count{0};
};

/// Claims and finishes a second of `producers` processes on one ring. Nobody sleeps; who finishes a slot makes the
/// owner's moves for it, so that no owner is what they wait for.
double claims_per_second(int producers) {
  const Segment segment(8, 8, 8, 8);
  const Mapping mine = segment.map();
  for (std::uint32_t s = 0; s < 8; ++s) segment.ring(mine).offer(s, want(segment.ring(mine), s));
  auto& start = shared<Start>();
  std::list<Child> children;
  for (int p = 0; p < producers; ++p) {
    children.emplace_back([&] {
      pin(kAll, p);
      const Mapping mapping = segment.map();
      const BenchRing ring = segment.ring(mapping);
      std::uint64_t claims = 0;
      start.here.fetch_add(1);
      while (start.go.load() == 0) ::sched_yield();
      while (start.stop.load(std::memory_order_relaxed) == 0) {
        const std::uint64_t before = claims;
        for (std::uint32_t s = 0; s < 8; ++s) {
          const SlotWord word = ring.slot(s);
          for (std::uint32_t task = 0; word.phase == Phase::kOffered && task < 8; ++task) {
            if (!ring.open_hint(s, task, word) || !ring.claim(s, task, static_cast<std::uint16_t>(p + 1), word))
              continue;
            ++claims;
            if (!ring.finish(s, task, word.turn)) continue;
            ring.lease(s);
            ring.release(s);
            ring.offer(s, want(ring, claims));
          }
        }
        if (claims == before) ::sched_yield();
      }
      start.count.fetch_add(claims);
    });
  }
  while (start.here.load() != static_cast<std::uint32_t>(producers)) ::usleep(100);
  const std::uint64_t begin = monotonic_ns();
  start.go = 1;
  ::usleep(60'000);
  start.stop = 1;
  const auto ns = static_cast<double>(monotonic_ns() - begin);
  children.clear();
  return static_cast<double>(start.count.load()) * 1e9 / ns;
}

void claims(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state)
    for (const int producers : {1, 2, 4, 8, 16})
      state.counters["per_s_" + std::to_string(producers)] = claims_per_second(producers);
}
BENCHMARK(claims)->Iterations(1);

// ── moves: one thread, warm lines ────────────────────────────────────────────────────────────────────────────────

void moves(benchmark::State& state) {
  constexpr std::uint32_t kSlots = 64;
  constexpr std::uint32_t kTasks = 8;
  const Segment segment(kSlots, kTasks, 8, 8);
  const Mapping mapping = segment.map();
  const BenchRing ring = segment.ring(mapping);
  std::uint64_t plan = 0;
  std::vector<double> times[5];
  const auto each = [&](std::size_t move, auto&& make) {
    const std::uint64_t start = monotonic_ns();
    for (std::uint32_t s = 0; s < kSlots; ++s) make(s);
    times[move].push_back(static_cast<double>(monotonic_ns() - start) / kSlots);
  };
  for ([[maybe_unused]] auto _ : state) {
    for (int pass = 0; pass < 500; ++pass) {
      each(0, [&](std::uint32_t s) { ring.offer(s, want(ring, s)); });
      each(1, [&](std::uint32_t s) {
        const SlotWord word = ring.slot(s);
        for (std::uint32_t task = 0; task < kTasks; ++task)
          if (ring.claim(s, task, 1, word)) ring.finish(s, task, word.turn);
      });
      each(2, [&](std::uint32_t s) { ring.lease(s); });
      each(3, [&](std::uint32_t s) { ring.release(s); });
      for (std::uint32_t s = 0; s < kSlots; ++s) ring.offer(s, want(ring, s));
      each(4, [&](std::uint32_t s) {
        ring.raise_plan(++plan);
        ring.cancel(s);
        ring.drop(s);
      });
    }
    std::size_t move = 0;
    for (const char* name : {"offer", "claim_and_finish", "lease", "release", "seek_slot"}) {
      state.counters[name] = median(times[move]) / (move == 1 ? kTasks : 1);
      ++move;
    }
  }
}
BENCHMARK(moves)->Iterations(1);

// ── whole batches ────────────────────────────────────────────────────────────────────────────────────────────────

constexpr std::uint32_t kBatches = 96;
constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kTasks = 8;
constexpr int kWriters = 2;

void write_rows(const BenchRing& ring, std::uint32_t slot, std::uint32_t task, std::uint64_t value) {
  const contract::TensorEntry& images = ring.shape().tensor[0];
  const auto [begin, end] = contract::rows_of_task(task, kTasks, ring.shape().rows);
  for (std::uint32_t row = begin; row < end; ++row)
    std::memset(ring.payload(slot) + images.offset + row * images.row_bytes, static_cast<int>(value), images.row_bytes);
}

struct Pool : Start {
  contract::Event<Atom> work{};
  std::atomic<std::uint32_t> piece{0}, ended{0};
};

/// Fills the lowest offered sequence until told to stop; sleeps when there is nothing to claim.
void produce(const BenchRing& ring, int id, Pool& pool) {
  BenchEvent work(pool.work);
  BenchEvent ready(ring.header().ready);
  std::uint32_t slot = 0;
  std::uint32_t task = 0;
  SlotWord word{};
  const auto choose = [&] {
    std::uint64_t lowest = ~std::uint64_t{0};
    for (std::uint32_t s = 0; s < kSlots; ++s) {
      const SlotWord seen = ring.slot(s);
      if (seen.phase != Phase::kOffered || ring.sequence_hint(s) >= lowest) continue;
      std::uint32_t open = 0;
      while (open < kTasks && !ring.open_hint(s, open, seen)) ++open;
      if (open == kTasks) continue;
      lowest = ring.sequence_hint(s);
      slot = s, task = open, word = seen;
    }
    return lowest != ~std::uint64_t{0};
  };
  while (pool.stop.load() == 0) {
    if (!choose()) {
      work.wait(static_cast<std::uint32_t>(id), kSleepSliceNs, [&] { return pool.stop.load() != 0 || choose(); });
    } else if (ring.claim(slot, task, static_cast<std::uint16_t>(id + 1), word)) {
      write_rows(ring, slot, task, ring.ticket(slot).sequence);
      if (ring.finish(slot, task, word.turn)) ready.notify_one();
      work.notify_one();
    }
  }
}

/// Bytes a second that two processes write into the ring's payload: by its law, a rank looking at a byte of every page,
/// or (`bare`) the same pieces by the same memset, numbered by one shared counter.
double bytes_per_second(benchmark::State& state, bool bare) {
  const Segment segment(kSlots, kTasks, 64, 224);
  const Mapping mapping = segment.map();
  const BenchRing ring = segment.ring(mapping);
  auto& pool = shared<Pool>();
  std::list<Child> children;
  for (int p = 0; p < kWriters; ++p) {
    children.emplace_back([&] {
      pin(kAll, p);
      const Mapping own = segment.map();
      const BenchRing mine = segment.ring(own);
      pool.here.fetch_add(1);
      while (pool.go.load() == 0) ::sched_yield();
      if (bare) {
        for (std::uint32_t i = 0; (i = pool.piece.fetch_add(1)) < kBatches * kTasks;)
          write_rows(mine, i / kTasks % kSlots, i % kTasks, i / kTasks);
      } else {
        produce(mine, p, pool);
      }
      pool.ended.fetch_add(1);
      BenchEvent(mine.header().ready).notify_one();
    });
  }
  while (pool.here.load() != kWriters) ::usleep(100);
  BenchEvent ready(ring.header().ready);
  BenchEvent work(pool.work);
  const auto sleep_until = [&](auto&& scan) {
    while (!scan() && !ready.wait(0, kSleepSliceNs, scan)) {
    }
  };
  const std::uint64_t start = monotonic_ns();
  pool.go = 1;
  std::uint64_t end = 0;
  if (!bare) {
    for (std::uint32_t s = 0; s < kSlots; ++s) {
      ring.offer(s, want(ring, s));
      work.notify_one();
    }
    for (std::uint32_t sequence = 0; sequence < kBatches; ++sequence) {
      const std::uint32_t slot = sequence % kSlots;
      sleep_until([&] { return ring.full(ring.slot(slot)); });
      ring.lease(slot);
      for (std::size_t at = 0; at < ring.shape().tensor[0].row_bytes * 64; at += contract::kPage)
        if (ring.payload(slot)[at] != static_cast<std::byte>(sequence)) state.SkipWithError("a page of another batch");
      ring.release(slot);
      if (sequence + kSlots >= kBatches) continue;
      ring.offer(slot, want(ring, sequence + kSlots));
      work.notify_one();
    }
    end = monotonic_ns();
    pool.stop = 1;
    work.notify_all();
  }
  sleep_until([&] { return pool.ended.load() == kWriters; });
  if (bare) end = monotonic_ns();
  return 64.0 * kBatches * static_cast<double>(ring.shape().tensor[0].row_bytes) * 1e9 /
         static_cast<double>(end - start);
}

void batches(benchmark::State& state) {
  constexpr double kImage = 3 * 224 * 224;
  for ([[maybe_unused]] auto _ : state) {
    std::vector<double> ring, bare, ratio;
    for (int turn = 0; turn < 5; ++turn) {
      bare.push_back(bytes_per_second(state, true));
      ring.push_back(bytes_per_second(state, false));
      ratio.push_back(ring.back() / bare.back());
    }
    state.counters["ring_images_per_s"] = median(ring) / kImage;
    state.counters["memset_images_per_s"] = median(bare) / kImage;
    state.counters["ring_over_memset"] = median(ratio);
  }
}
BENCHMARK(batches)->Iterations(1);

}  // namespace
}  // namespace feedring::bench

int main(int argc, char** argv) {
  char repeat[] = "--benchmark_repetitions=11";
  char brief[] = "--benchmark_display_aggregates_only=true";
  std::vector<char*> arguments{argv[0], repeat, brief};  // what the caller says comes later and prevails
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
