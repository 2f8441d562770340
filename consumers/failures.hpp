// SPDX-License-Identifier: Apache-2.0
// What the producers say of a finished slot: the status of its rows, or of the parts that a row has, and the records of
// failures, read as what a peer wrote.
#pragma once

#include <cstdint>
#include <string>

#include "consumers/ring_memory.hpp"

namespace feedring {

/// Counts parts of rows: samples, one a row or, in episodes, many.
struct RowSummary {
  std::uint32_t raised = 0;        ///< kFailed, among the valid rows
  std::uint32_t replaced = 0;      ///< kReplaced or kZeroed, among the valid rows
  std::uint32_t first_raised = 0;  ///< part, counted through all rows; meaningful where raised > 0
  bool incomplete = false;         ///< one was cancelled or never written
};

/// Counts the statuses of a leased or ready slot whose first `valid` rows are this rank's share. A byte that is no
/// status counts as never written.
[[nodiscard]] RowSummary summarize_rows(const RingMemory& memory, std::uint32_t slot, std::uint32_t valid);

/// Why part `part` failed, as its task's record tells it: the text of a peer, cut to its room, control characters
/// replaced.
[[nodiscard]] std::string failure_text(const RingMemory& memory, std::uint32_t slot, std::uint32_t part);

/// How many samples of `share` may fail under a budget: the next whole number, so that a budget above 0 allows one.
[[nodiscard]] std::uint64_t allowed_failures(double budget, std::uint64_t share) noexcept;

}  // namespace feedring
