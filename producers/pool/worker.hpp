// SPDX-License-Identifier: Apache-2.0
// THE WORK LOOP of a producer: claim a task, read, decode into the slot, finish. One thread, one task at a time.
#pragma once

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "producers/pool/chooser.hpp"
#include "producers/pool/episode_writer.hpp"
#include "producers/pool/feed_context.hpp"
#include "producers/pool/own_writer.hpp"
#include "producers/pool/reader.hpp"
#include "producers/pool/row_writer.hpp"
#include "runtime/memfd.hpp"

namespace feedring {

/// A ring as the supervisor handed it over: which feed it serves, and the mapping that keeps it alive.
struct RingArrival {
  std::shared_ptr<FeedContext> feed;
  std::shared_ptr<Mapping> mapping;
  contract::RingShape shape;
};

/// Who this producer is in shared memory.
struct WorkerIdentity {
  contract::Claimant claimant = contract::kNobody;  ///< 1 … kMaxProducers; also its block, and bit claimant-1 of events
  std::uint32_t position = 0;                       ///< among the pool's producers
  std::uint32_t producers = 1;
};

class Worker {
 public:
  /// `failures` is called from the work loop for every failed sample.
  Worker(const WorkerIdentity& identity, contract::PoolHeader<std::atomic>& pool,
         std::function<void(const Failure&)> failures);

  /// Any thread: the work loop takes the ring up at its next look. Throws Error(kRefused) where it is none for the
  /// feed's samples.
  void add_ring(RingArrival ring);

  /// Runs for the life of the process.
  [[noreturn]] void run();
  /// One round of it: works on the slot that is served next. False: nothing is open.
  bool step();

 private:
  struct Held {
    std::shared_ptr<FeedContext> feed;
    std::shared_ptr<Mapping> mapping;
  };

  void take_up_rings();
  void wait_for_work();
  void work_on(SlotChoice choice);
  void do_task(const SlotChoice& choice, std::uint32_t task);
  void fail_task(const SlotChoice& choice, std::uint32_t task, const std::string& why);
  void write_rows(const SlotChoice& choice, std::uint32_t task, const Want& want);
  void record_failure(const SlotChoice& choice, std::uint32_t task, const FeedContext& feed);
  void read_ahead(const SlotChoice& choice, std::uint32_t task);
  void list_files(const SlotChoice& choice, std::uint32_t task);
  [[nodiscard]] bool sane(const Ring<>& ring, const FeedContext& feed, const Want& want) const;
  void publish_counters();

  WorkerIdentity identity_;
  contract::PoolHeader<std::atomic>& pool_;
  contract::ProducerBlock<std::atomic>& block_;
  Reader reader_;
  SampleWriter attempts_;
  ImageWriter images_;
  RowWriter rows_;
  EpisodeWriter episodes_;
  OwnWriter own_;
  std::function<void(const Failure&)> failures_;
  std::vector<Ring<>> rings_;  // parallel to held_
  std::vector<Held> held_;
  std::uint64_t ring_bytes_ = 0;  // of all slots
  moodycamel::ConcurrentQueue<RingArrival> arrivals_;
  Failure last_failure_{};  // of the row just written, for the task's failure record
  std::vector<FileRequest> soon_;
  bool woken_ = false;  // this loop just woke up: it passes the wake-up on if work is left
  std::uint64_t samples_ = 0;
  std::uint64_t tasks_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t work_ns_ = 0;
  std::uint64_t idle_ns_ = 0;
  std::uint64_t bytes_before_ = 0;  // what a predecessor counted
  std::uint64_t read_wait_before_ns_ = 0;
  std::uint64_t futex_calls_before_ = 0;
};

}  // namespace feedring
