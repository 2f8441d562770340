// SPDX-License-Identifier: Apache-2.0
#include "consumers/failures.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace feedring {

using contract::RowStatus;

RowSummary summarize_rows(const RingMemory& memory, std::uint32_t slot, std::uint32_t valid) {
  RowSummary summary;
  const contract::RingShape& shape = memory.ring().shape();
  const std::byte* status = memory.ring().payload(slot) + memory.status().offset;
  for (std::uint32_t part = 0; part < contract::units_of(shape); ++part) {
    const std::uint32_t row = part / shape.parts;
    switch (static_cast<RowStatus>(status[part])) {
      case RowStatus::kOk: break;
      case RowStatus::kReplaced:
      case RowStatus::kZeroed:
        if (row < valid) ++summary.replaced;
        break;
      case RowStatus::kFailed:
        if (row >= valid) break;  // a repeat: the sample itself is raised where it counts
        if (summary.raised++ == 0) summary.first_raised = part;
        break;
      case RowStatus::kMissing:
      case RowStatus::kCancelled:
      default: summary.incomplete = true;
    }
  }
  return summary;
}

std::string failure_text(const RingMemory& memory, std::uint32_t slot, std::uint32_t part) {
  const contract::RingShape& shape = memory.ring().shape();
  std::uint32_t task = 0;
  while (task + 1 < shape.tasks && contract::rows_of_task(task, shape.tasks, contract::units_of(shape)).end <= part)
    ++task;
  contract::FailureRecord record;
  std::memcpy(&record, &memory.ring().failure(slot, task), sizeof record);
  std::string text(record.text, std::min<std::size_t>(record.length, sizeof record.text));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text.empty() ? "the producer left no reason" : text;
}

std::uint64_t allowed_failures(double budget, std::uint64_t share) noexcept {
  // The small subtraction: 0.07 x 100 is a little more than 7.
  const double allowed = std::ceil(budget * static_cast<double>(share) - 1e-6);
  return allowed > 0 ? static_cast<std::uint64_t>(std::min(allowed, static_cast<double>(share))) : 0;
}

}  // namespace feedring
