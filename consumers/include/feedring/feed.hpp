// SPDX-License-Identifier: Apache-2.0
// A rank's end of a feed: attach, then take batches.
//
//   auto feed = feedring::Feed::attach({.name = "train"});
//   for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
//     for (feedring::Batch& batch : feed) train_on(feedring::to_tensor(batch, "images"), …);
//     save(feed.state());
//   }
//
// All ranks of a feed take the same number of steps. An epoch that was left early is not continued by the next loop:
// each iteration starts the next epoch from its beginning (start_epoch()).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <feedring/batch.hpp>
#include <feedring/device.hpp>
#include <feedring/error.hpp>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

namespace feedring {

struct FeedOptions {
  std::string name = "train";  ///< which feed of the configuration
  std::string pool = {};       ///< where the pool listens; empty: the environment's FEEDRING_POOL
  /// The configuration from which this rank starts a pool where none was named and none runs for this job; empty: the
  /// environment's FEEDRING_CONFIG.
  std::string config = {};
  /// Ranks of a job that give the same key share the pool that they start; others have one of their own. For programs
  /// that make up configurations: a key per configuration. No effect where `pool` or FEEDRING_POOL names the pool.
  std::string pool_key = {};
  std::string command = {};  ///< the `feedring` command that starts it; empty: as consumers/pool_start.hpp looks for it
  /// Who this rank is, where the launcher's variables shall not say it (runtime/launch_env.hpp); without either, a lone
  /// process is rank 0 of 1.
  std::optional<std::uint32_t> rank = std::nullopt;
  std::optional<std::uint32_t> world_size = std::nullopt;
  std::optional<std::uint32_t> local_rank = std::nullopt;
  std::optional<std::uint32_t> local_world_size = std::nullopt;
  std::chrono::milliseconds deadline = std::chrono::seconds(120);        ///< longest wait for one batch
  std::chrono::milliseconds attach_deadline = std::chrono::seconds(60);  ///< longest wait for the pool
  /// Called at least ten times a second while attach() waits; what it throws ends the wait (an interpreter's ^C).
  std::function<void()> idle = {};
  /// What reads the slots; null: host_device(). With feedring::cuda() batches come as tensors of the GPU.
  std::shared_ptr<Device> device = nullptr;
  /// The device's stream on which the next batch will be used, asked by attach() and once a batch by next(), on the
  /// caller's thread; empty: the default stream, which is torch's as long as nothing else was set. docs/device.md has
  /// the rules.
  std::function<StreamHandle()> stream = {};
};

/// Sums since attach.
struct FeedStats {
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;      ///< valid rows of these batches
  std::uint64_t failed = 0;       ///< of them replaced or zeroed, and those that were raised
  std::uint64_t wait_ns = 0;      ///< the caller stood in next() for a batch that was not ready
  std::uint64_t futex_calls = 0;  ///< system calls for sleeping and waking
  std::uint64_t staged = 0;       ///< copied to the device from memory that was not registered (yet)
};

class FeedOwner;  // consumers/feed_owner.hpp

/// Everything but the batches' release happens inside the members below, by one thread at a time (another one gets
/// Error(kUsage)). In a forked child every member that would touch the ring throws Error(kForked), and destruction does
/// nothing.
class Feed {
 public:
  /// Connects to the pool and maps this rank's ring. Reads the environment now, not earlier. Throws Error: kUsage
  /// (wrong or contradicting rank, unknown feed), kRefused (another user, another build, a ring that somebody owns),
  /// kDeadline (no pool within attach_deadline), and what the pool says (kData, kMemory, …).
  [[nodiscard]] static Feed attach(const FeedOptions& options = {});

  Feed(Feed&&) noexcept;
  Feed& operator=(Feed&&) noexcept;
  ~Feed();

  /// The next batch, or once nullopt after the last one of an epoch; the call after that goes on with the next epoch.
  /// Throws Error:
  ///   kDeadline  no batch within the deadline; names the producers and what they have in hand. May be called again
  ///   kPoolGone  the pool died; batches that were ready have been delivered
  ///   any kind   that the pool ended its service with (say, a producer that cannot be killed): told at once, ready
  ///              batches or not, so that no rank goes on alone
  ///   kData      a sample failed under on_error = "raise", or too many under "replace" or "zero" (error_budget);
  ///              the next call goes on with the step behind it, so that all ranks stay in step
  ///   kHeld      the caller holds all slots of the ring
  ///   kMemory    no room on the device for another batch; let batches go and call again
  ///   kInternal  a copy to the device failed: nothing more comes
  ///   kForked, kUsage  see above
  [[nodiscard]] std::optional<Batch> next();
  [[nodiscard]] std::optional<Batch> next(std::chrono::milliseconds deadline);

  /// Begins a new iteration: goes to the start of the next epoch where a batch of this one was taken; does nothing at
  /// the start of an epoch, or where a state was loaded or sought and nothing was taken since.
  void start_epoch();
  /// Says which epoch the next iteration runs. No effect where that epoch is next anyway, also in its middle after
  /// load_state().
  void set_epoch(std::uint64_t epoch);
  /// Goes to a step of an epoch, 0 <= step <= steps_per_epoch(). Batches already decoded are kept where they fit.
  /// Throws Error(kUsage) for a step beyond the epoch.
  void seek(std::uint64_t epoch, std::uint64_t step);

  /// Where the next batch will come from, as one line of JSON, equal on all ranks at equal steps:
  /// {"version", "seed", "epoch", "next_ordinal", "spec_hash", "dataset_digest", "G"}.
  [[nodiscard]] std::string state() const;
  /// Goes on where `state` was saved, at any world size and batch size. The seed is the state's. Throws
  /// Error(kRefused), with both values, for a state of another data set, sampler or transform, and Error(kUsage) for a
  /// text that is none.
  void load_state(const std::string& state);

  /// Which classes and samples episode `ordinal` of `epoch` has, of whatever rank it is, without its pixels and without
  /// moving this feed: one line of JSON, {"epoch", "ordinal", "classes", "support", "query", "label_map"} as
  /// `feedring dump` writes them. The pool is asked, and answers at once. Throws Error(kUsage) for a feed that delivers
  /// samples and for an ordinal beyond the epoch, Error(kPoolGone), Error(kDeadline).
  [[nodiscard]] std::string episode(std::uint64_t epoch, std::uint64_t ordinal) const;

  /// Epoch and step of the batch that next() would return.
  [[nodiscard]] std::uint64_t epoch() const;
  [[nodiscard]] std::uint64_t step() const;
  /// Steps of a whole epoch, equal on all ranks.
  [[nodiscard]] std::uint64_t steps_per_epoch() const;
  [[nodiscard]] std::uint32_t batch_size() const;  ///< of this rank
  [[nodiscard]] std::uint64_t samples() const;     ///< of the data set
  [[nodiscard]] std::uint64_t ordinals() const;    ///< of an epoch, over all ranks: samples, or episodes
  [[nodiscard]] std::uint64_t classes() const;
  [[nodiscard]] std::uint32_t rank() const;
  [[nodiscard]] std::uint32_t world_size() const;
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const std::string& dataset_digest() const;
  [[nodiscard]] FeedStats stats() const;
  /// The feed as the pool runs it, one line of JSON: the keys of its table in the configuration, all of them, with
  /// `data` absolute; and `producers`, the pool's number of them.
  [[nodiscard]] const std::string& description() const;
  /// Where its pool listens, in the form that FEEDRING_POOL has.
  [[nodiscard]] const std::string& pool() const;
  /// Batches that the ring has room for, and how many of these slots the program holds now. Any thread may call them.
  [[nodiscard]] std::uint32_t slots() const;
  [[nodiscard]] std::uint32_t held() const;

  /// What there is to say of the device: why the ring could not be pinned; empty where all is well, and while it is
  /// being pinned.
  [[nodiscard]] std::string device_note() const;

  /// Gives the ring back, so that this process or another one may attach to the feed again before this one ends; what
  /// was decoded stays for it. Afterwards this Feed is like one that was moved from. Throws Error(kHeld) while batches
  /// or views of them live, Error(kForked), and Error(kDeadline) where the pool does not answer. A pool that is gone is
  /// no error.
  void detach();

  /// A feed is a range of the batches of one iteration: begin() is start_epoch(). A batch is gone when the loop asks
  /// for the next one, unless it was moved out.
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(Feed& feed) : feed_(&feed), batch_(feed.next()) {}
    [[nodiscard]] Batch& operator*() const noexcept { return *batch_; }
    Iterator& operator++() {
      batch_.reset();
      batch_ = feed_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    [[nodiscard]] bool operator==(std::default_sentinel_t) const noexcept { return !batch_; }

   private:
    Feed* feed_;
    mutable std::optional<Batch> batch_;
  };
  [[nodiscard]] Iterator begin() {
    start_epoch();
    return Iterator(*this);
  }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }

 private:
  explicit Feed(std::unique_ptr<FeedOwner> owner) noexcept;
  std::unique_ptr<FeedOwner> owner_;
};

}  // namespace feedring
