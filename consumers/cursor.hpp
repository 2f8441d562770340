// SPDX-License-Identifier: Apache-2.0
// Where a rank stands in its feed and what it wants next. Pure: no memory, no clock, no ring. The owner turns what the
// cursor wants into tickets; resume, seek, epochs and breaks are nothing but changes of the cursor.
//
// The place is (epoch, offset, step): the next step covers [offset + step·G, offset + (step+1)·G). The offset is 0, or,
// after a state of another world size or batch size was loaded in mid-epoch, the next ordinal modulo G, so that steps
// keep counting from the epoch's start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/schedule.hpp"

namespace feedring {

/// What the cursor must know of a feed.
struct CursorSpec {
  std::uint64_t samples = 0;
  std::uint32_t world = 1;  ///< 1 where every rank sees all (shard = "none")
  std::uint32_t rank = 0;   ///< 0 there
  std::uint32_t batch = 1;
  Remainder remainder = Remainder::kDrop;
  std::uint64_t seed = 0;
  bool repeat = true;
  bool auto_epoch = true;
  std::string spec_hash;
  std::string dataset_digest;
};

/// One step of one epoch, as this rank sees it.
struct Wanted {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  Share share;
};

class Cursor {
 public:
  /// At step 0 of epoch 0. Throws Error(kUsage) where an epoch has no step, and what Schedule throws.
  explicit Cursor(CursorSpec spec);

  /// What comes after `ahead` more batches; 0 is the next one. At the end of an epoch this goes on with the next epoch,
  /// except under repeat = false, where it is nullopt until the next iteration begins.
  [[nodiscard]] std::optional<Wanted> want(std::uint64_t ahead) const noexcept;

  /// The batch of want(0) was handed out. Precondition: !at_end().
  void advance() noexcept;
  /// All steps of this epoch were handed out.
  [[nodiscard]] bool at_end() const noexcept { return step_ >= steps_; }
  /// The user was told of the end, once; the next call begins the next epoch.
  void tell_end() noexcept { told_ = true; }
  [[nodiscard]] bool end_told() const noexcept { return told_; }
  /// Goes to the start of the epoch that is next: the one that was set, else one more (auto_epoch), else the same.
  void roll() noexcept;

  void start_epoch() noexcept;
  void set_epoch(std::uint64_t epoch) noexcept;
  /// Throws Error(kUsage) where step > steps_per_epoch().
  void seek(std::uint64_t epoch, std::uint64_t step);

  [[nodiscard]] std::string state() const;
  /// Changes nothing where it throws.
  void load_state(const std::string& state);

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  /// Epoch and step of the batch that comes next.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return at_end() ? next_epoch() : epoch_; }
  [[nodiscard]] std::uint64_t step() const noexcept { return at_end() ? 0 : step_; }
  [[nodiscard]] std::uint64_t steps_per_epoch() const noexcept { return whole_.steps(); }
  /// Valid rows that this rank gets in an epoch of steps_per_epoch() steps.
  [[nodiscard]] std::uint64_t share_of_epoch() const noexcept;

 private:
  [[nodiscard]] std::uint64_t next_epoch() const noexcept;
  [[nodiscard]] std::uint64_t global_batch() const noexcept { return whole_.global_batch(); }
  [[nodiscard]] Schedule schedule(std::uint64_t offset) const;
  void go_to(std::uint64_t epoch, std::uint64_t offset, std::uint64_t step) noexcept;

  CursorSpec spec_;
  Schedule whole_;    // of an epoch from its start
  Schedule current_;  // of this epoch, from the offset
  std::uint64_t seed_;
  std::uint64_t epoch_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t steps_;  // where this epoch ends
  std::optional<std::uint64_t> pinned_;
  bool touched_ = false;  // something of this epoch was handed out, or its end was told
  bool told_ = false;
};

}  // namespace feedring
