// SPDX-License-Identifier: Apache-2.0
// Which ordinals of an epoch a rank gets at a step: the arithmetic that makes all ranks take the same number of steps.
// Pure; the rank uses it to write tickets, `feedring plan` and `dump` use it to show them.
#pragma once

#include <cstdint>

namespace feedring {

/// What happens to the R = M mod G ordinals that do not fill a whole step.
enum class Remainder : std::uint8_t {
  kDrop,   ///< they are left out of this epoch
  kPad,    ///< spread evenly over the ranks; the rest of each slot repeats samples with valid = 0
  kExact,  ///< an error unless R = 0
};

/// A rank's share of one step. Row j < valid is ordinal first + j; rows from `valid` on repeat ordinals of the epoch
/// (see ordinal_of_row) and carry valid = 0. `valid` is 0 for the ranks that get nothing of a short last step.
struct Share {
  std::uint64_t first = 0;
  std::uint32_t valid = 0;
};

class Schedule {
 public:
  /// samples M >= 1; world W >= 1; batch B >= 1 (per rank). Steps start at ordinal `start` (0, or what a loaded state
  /// says), step k covers [start + k·G, start + (k+1)·G), G = W·B.
  /// Throws Error(kData) where M = 0, and Error(kUsage) where W or B is 0, where start > M, or where `remainder` is
  /// kExact and (M - start) mod G != 0.
  Schedule(std::uint64_t samples, std::uint32_t world, std::uint32_t batch, Remainder remainder,
           std::uint64_t start = 0);

  /// Steps from `start` to the epoch's end, equal on all ranks. 0 where start = M, or where kDrop leaves out all there
  /// is (M - start < G): whoever goes on to the next epoch by itself must not do so for ever.
  [[nodiscard]] std::uint64_t steps() const noexcept;
  /// Throws Error(kUsage) where steps() is 0, for whoever would wait for a batch that can never come.
  /// `what` are the ordinals.
  void demand_steps(const char* what = "samples") const;
  /// Ordinals that no step covers; 0 unless kDrop.
  [[nodiscard]] std::uint64_t left_out() const noexcept;
  /// Rows of the last step, over all ranks, that repeat samples with valid = 0; 0 unless kPad.
  [[nodiscard]] std::uint64_t repeats() const noexcept;
  /// Precondition: step < steps(), rank < world.
  [[nodiscard]] Share share(std::uint64_t step, std::uint32_t rank) const noexcept;
  /// The next ordinal after `step` steps, over all ranks: what a state saved there holds. Equals M after the last, also
  /// where kDrop left some out. Precondition: step <= steps().
  [[nodiscard]] std::uint64_t next_ordinal(std::uint64_t step) const noexcept;

  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
  [[nodiscard]] std::uint64_t global_batch() const noexcept { return std::uint64_t{world_} * batch_; }

 private:
  std::uint64_t samples_;
  std::uint32_t world_;
  std::uint32_t batch_;
  Remainder remainder_;
  std::uint64_t start_;
};

/// The ordinal that row `row` of a share holds: first + row where row < valid, else the repeat (row - valid) mod
/// samples, counted from the start of the epoch as DistributedSampler does.
[[nodiscard]] std::uint64_t ordinal_of_row(const Share& share, std::uint32_t row, std::uint64_t samples) noexcept;

}  // namespace feedring
