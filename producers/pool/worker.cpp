// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/worker.hpp"

#include <algorithm>
#include <cstring>

#include "producers/pool/cache_size.hpp"
#include "runtime/event_count.hpp"
#include "runtime/ring_segment.hpp"
#include "runtime/schedule.hpp"

namespace feedring {

using contract::RowStatus;
using contract::WorkPhase;

Worker::Worker(const WorkerIdentity& identity, contract::PoolHeader<std::atomic>& pool,
               std::function<void(const Failure&)> failures)
    : identity_(identity),
      pool_(pool),
      block_(pool.producer[identity.claimant - 1]),
      attempts_(pool, block_.in_hand,
                [this](const Failure& failure) {
                  ++failed_;
                  last_failure_ = failure;
                  failures_(failure);
                }),
      images_(reader_, attempts_),
      rows_(images_),
      episodes_(images_),
      own_(attempts_),
      failures_(std::move(failures)) {
  // A successor counts on where its predecessor died.
  constexpr auto relaxed = std::memory_order_relaxed;
  samples_ = block_.counters.samples.load(relaxed);
  tasks_ = block_.counters.tasks.load(relaxed);
  failed_ = block_.counters.failures.load(relaxed);
  work_ns_ = block_.counters.work_ns.load(relaxed);
  idle_ns_ = block_.counters.idle_ns.load(relaxed);
  bytes_before_ = block_.counters.bytes_read.load(relaxed);
  read_wait_before_ns_ = block_.counters.read_wait_ns.load(relaxed);
  futex_calls_before_ = block_.counters.futex_calls.load(relaxed);
}

void Worker::add_ring(RingArrival ring) {
  ring.feed->demand_fits(ring.shape);
  arrivals_.enqueue(std::move(ring));
  EventCount(pool_.work).notify_all();
}

void Worker::take_up_rings() {
  RingArrival arrival;
  while (arrivals_.try_dequeue(arrival)) {
    rings_.emplace_back(arrival.mapping->data(), arrival.shape);
    held_.push_back({std::move(arrival.feed), std::move(arrival.mapping)});
    ring_bytes_ += arrival.shape.slots * arrival.shape.payload_stride;
    // Half of the cache is for what the slots are filled from.
    images_.write_past_caches(ring_bytes_ > outermost_cache_bytes() / 2);
  }
}

void Worker::run() {
  for (;;) {
    if (!step()) wait_for_work();
  }
}

bool Worker::step() {
  take_up_rings();
  const auto choice = choose(rings_, identity_.position);
  if (choice) work_on(*choice);
  return choice.has_value();
}

void Worker::wait_for_work() {
  publish_counters();
  const std::uint64_t since = monotonic_ns();
  EventCount(pool_.work).wait(identity_.claimant - 1U, kSleepSliceNs, [this] {
    return arrivals_.size_approx() != 0 || choose(rings_, identity_.position).has_value();
  });
  idle_ns_ += monotonic_ns() - since;
  woken_ = true;
}

// Stays on the slot until its tasks are gone, so that the oldest batch is done first.
void Worker::work_on(SlotChoice choice) {
  const Ring<>& ring = rings_[choice.ring];
  while (const auto task = open_task(ring, choice, identity_.position, identity_.producers)) {
    // Before the claim and until after the finish: whoever stops in between is missed, and killed, at the deadline.
    block_.in_hand.phase.store(static_cast<std::uint32_t>(WorkPhase::kClaim), std::memory_order_relaxed);
    block_.in_hand.since_ns.store(monotonic_ns(), std::memory_order_release);
    if (ring.claim(choice.slot, *task, identity_.claimant, choice.word)) do_task(choice, *task);
  }
  block_.in_hand.since_ns.store(0, std::memory_order_relaxed);
}

void Worker::do_task(const SlotChoice& choice, std::uint32_t task) {
  const Ring<>& ring = rings_[choice.ring];
  FeedContext& feed = *held_[choice.ring].feed;
  if (woken_) {
    woken_ = false;
    if (choose(rings_, identity_.position)) EventCount(pool_.work).notify_one();
  }
  const std::uint64_t since = monotonic_ns();
  const Want want = ring.ticket(choice.slot);  // stable from the claim on
  ring.failure(choice.slot, task).length = 0;
  if (sane(ring, feed, want)) {
    read_ahead(choice, task);
    write_rows(choice, task, want);
  } else {
    fail_task(choice, task, "the ticket holds numbers outside the data set: the trainer's memory is corrupt");
  }
  const bool last = ring.finish(choice.slot, task, choice.word.turn);
  ++tasks_;
  work_ns_ += monotonic_ns() - since;
  publish_counters();
  if (last) EventCount(ring.header().ready).notify_one();
  EventCount(pool_.work).notify_one();
}

void Worker::write_rows(const SlotChoice& choice, std::uint32_t task, const Want& want) {
  const Ring<>& ring = rings_[choice.ring];
  const contract::RingShape& shape = ring.shape();
  FeedContext& feed = *held_[choice.ring].feed;
  const Share share{want.first, want.valid};
  const auto [begin, end] = contract::rows_of_task(task, shape.tasks, contract::units_of(shape));
  for (std::uint32_t unit = begin; unit < end; ++unit) {
    if (ring.stale(want.plan)) {
      const contract::TensorEntry* status = find_tensor(shape, "status");
      std::memset(ring.payload(choice.slot) + status->offset + unit, static_cast<int>(RowStatus::kCancelled),
                  end - unit);
      return;
    }
    const std::uint32_t row = unit / shape.parts;
    const RowTask what{.payload = ring.payload(choice.slot),
                       .place = {choice.ring, choice.slot, choice.word.turn, unit},
                       .seed = want.seed,
                       .epoch = want.epoch,
                       .ordinal = ordinal_of_row(share, row, feed.ordinals()),
                       .valid = row < want.valid};
    const RowStatus outcome = feed.has_own()    ? own_.write(feed, shape, what)
                              : feed.episodes() ? episodes_.write(feed, shape, what)
                                                : rows_.write(feed, shape, what);
    ++samples_;
    if (outcome == RowStatus::kFailed && what.valid) record_failure(choice, task, feed);
  }
}

// The first one of a task is what the rank that raises tells.
void Worker::record_failure(const SlotChoice& choice, std::uint32_t task, const FeedContext& feed) {
  contract::FailureRecord& record = rings_[choice.ring].failure(choice.slot, task);
  if (record.length != 0) return;
  const std::string text = words_of(feed, last_failure_);
  record.row = last_failure_.place.row;
  record.length = static_cast<std::uint32_t>(std::min(text.size(), sizeof record.text));
  std::memcpy(record.text, text.data(), record.length);
}

// Every row failed, for a reason that is not in a file.
void Worker::fail_task(const SlotChoice& choice, std::uint32_t task, const std::string& why) {
  const Ring<>& ring = rings_[choice.ring];
  const auto [begin, end] = contract::rows_of_task(task, ring.shape().tasks, contract::units_of(ring.shape()));
  const contract::TensorEntry* status = find_tensor(ring.shape(), "status");
  std::memset(ring.payload(choice.slot) + status->offset + begin, static_cast<int>(RowStatus::kFailed), end - begin);
  contract::FailureRecord& record = ring.failure(choice.slot, task);
  record.row = begin;
  record.length = static_cast<std::uint32_t>(std::min(why.size(), sizeof record.text));
  std::memcpy(record.text, why.data(), record.length);
}

bool Worker::sane(const Ring<>& ring, const FeedContext& feed, const Want& want) const {
  const std::uint64_t samples = feed.ordinals();
  return want.rows == ring.shape().rows && want.valid <= want.rows && want.first <= samples &&
         want.valid <= samples - want.first;
}

// Tells the reader this task's files and, as a guess, those of the task that comes next.
void Worker::read_ahead(const SlotChoice& choice, std::uint32_t task) {
  if (!reader_.reads_ahead()) return;
  soon_.clear();
  list_files(choice, task);
  SlotChoice next = choice;
  auto following = open_task(rings_[choice.ring], choice, identity_.position, identity_.producers);
  if (!following) {
    if (const auto other = choose(rings_, identity_.position)) {
      next = *other;
      following = open_task(rings_[next.ring], next, identity_.position, identity_.producers);
    }
  }
  if (following) list_files(next, *following);
  reader_.want(soon_);
}

// The files of a task, by its ticket: a fact for a task that is claimed, a guess for another.
void Worker::list_files(const SlotChoice& choice, std::uint32_t task) {
  const Ring<>& ring = rings_[choice.ring];
  FeedContext& feed = *held_[choice.ring].feed;
  const Want want = ring.ticket(choice.slot);
  if (feed.has_own() || !sane(ring, feed, want)) return;
  const contract::RingShape& shape = ring.shape();
  const auto [begin, end] = contract::rows_of_task(task, shape.tasks, contract::units_of(shape));
  for (std::uint32_t unit = begin; unit < end; ++unit) {
    const std::uint64_t ordinal = ordinal_of_row({want.first, want.valid}, unit / shape.parts, feed.ordinals());
    if (const auto file = feed.planned_file({want.seed, want.epoch, ordinal}, unit % shape.parts))
      soon_.push_back(*file);
  }
}

void Worker::publish_counters() {
  constexpr auto relaxed = std::memory_order_relaxed;
  block_.counters.samples.store(samples_, relaxed);
  block_.counters.tasks.store(tasks_, relaxed);
  block_.counters.failures.store(failed_, relaxed);
  block_.counters.bytes_read.store(bytes_before_ + reader_.bytes_taken(), relaxed);
  block_.counters.read_wait_ns.store(read_wait_before_ns_ + reader_.waited_ns(), relaxed);
  block_.counters.work_ns.store(work_ns_, relaxed);
  block_.counters.idle_ns.store(idle_ns_, relaxed);
  block_.counters.futex_calls.store(futex_calls_before_ + futex_calls_of_this_thread() + reader_.futex_calls(),
                                    relaxed);
}

}  // namespace feedring
