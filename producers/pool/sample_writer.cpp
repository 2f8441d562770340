// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/sample_writer.hpp"

#include <fmt/format.h>

#include "producers/pool/in_hand.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/futex.hpp"

namespace feedring {
namespace {

using contract::RowStatus;
using contract::WorkPhase;

// How many substitutes are tried before a sample becomes zeros; a class with more bad files than this is beyond repair.
constexpr std::uint64_t kMaxSubstitutes = 8;

}  // namespace

std::string words_of(const FeedContext& feed, const Failure& failure) {
  std::string text = feed.index().called(failure.sample);
  if (!feed.has_own())
    text += fmt::format(" (sample {}, {} bytes)", failure.sample, feed.index().bytes(failure.sample));
  return text + ": " + failure.reason;
}

SampleWriter::SampleWriter(const contract::PoolHeader<std::atomic>& pool, contract::InHand<std::atomic>& in_hand,
                           std::function<void(const Failure&)> on_failure)
    : pool_(pool), in_hand_(in_hand), on_failure_(std::move(on_failure)) {}

SampleWriter::Result SampleWriter::write(const FeedContext& feed, const RowTask& task, std::uint64_t sample,
                                         const Make& make, const Substitute& substitute, const Clear& clear) {
  Result result{RowStatus::kOk, sample};
  if (Fault fault = attempt(feed, sample, make)) {
    result.status = feed.spec().on_error == OnError::kRaise ? RowStatus::kFailed : RowStatus::kZeroed;
    if (feed.spec().on_error == OnError::kReplace) {
      for (std::uint64_t number = 0; number < kMaxSubstitutes; ++number) {
        const auto other = substitute(number);
        if (!other) break;
        if (!attempt(feed, *other, make)) {
          result = {RowStatus::kReplaced, *other};
          break;
        }
      }
    }
    // Never what the slot's former turn left there.
    if (result.status != RowStatus::kReplaced) clear();
    // A repeat that fills a short step is told where it counts, and not once more here.
    if (task.valid) {
      fault_point("failure, before its report");
      on_failure_({feed.number(), task.epoch, task.ordinal, sample, *fault, result.status, task.place});
      fault_point("failure, after its report");
    }
  }
  now(WorkPhase::kClaim);
  return result;
}

Fault SampleWriter::attempt(const FeedContext& feed, std::uint64_t sample, const Make& make) {
  // What a crash of this process will be charged to, and what a hang is measured from. Phase first, time last.
  in_hand_.sample.store(sample, std::memory_order_relaxed);
  fault_point("in hand, half written");
  in_hand_.feed.store(feed.number(), std::memory_order_relaxed);
  now(WorkPhase::kRead);
  in_hand_.since_ns.store(monotonic_ns(), std::memory_order_release);
  // Once may be bad luck; the second try runs here, where a process makes one sample at a time.
  if (const std::uint32_t crashes = crashes_of(pool_, feed.number(), sample); crashes >= 2)
    return fmt::format("ended {} producers and is quarantined", crashes);
  return make(sample);
}

void SampleWriter::now(WorkPhase phase) noexcept {
  in_hand_.phase.store(static_cast<std::uint32_t>(phase), std::memory_order_relaxed);
}

}  // namespace feedring
