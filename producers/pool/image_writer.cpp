// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/image_writer.hpp"

#include <fmt/format.h>

#include <cstring>

#include "producers/pool/in_hand.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/futex.hpp"

namespace feedring {
namespace {

using contract::RowStatus;
using contract::WorkPhase;

// How many substitutes are tried before an image becomes zeros; a class with more bad files than this is beyond repair.
constexpr std::uint64_t kMaxSubstitutes = 8;

}  // namespace

ImageWriter::ImageWriter(Reader& reader, contract::PoolHeader<std::atomic>& pool,
                         contract::InHand<std::atomic>& in_hand, std::function<void(const Failure&)> on_failure)
    : reader_(reader), pool_(pool), in_hand_(in_hand), on_failure_(std::move(on_failure)) {}

ImageWriter::Result ImageWriter::write(FeedContext& feed, const RowTask& task, std::uint64_t sample, Draw draw,
                                       std::optional<ClassAugment> turned, const Substitute& substitute,
                                       std::byte* out) {
  Result result{RowStatus::kOk, sample};
  if (Fault fault = make_image(feed, sample, draw, turned, out)) {
    result.status = feed.spec().on_error == OnError::kRaise ? RowStatus::kFailed : RowStatus::kZeroed;
    if (feed.spec().on_error == OnError::kReplace) {
      for (std::uint64_t attempt = 0; attempt < kMaxSubstitutes; ++attempt) {
        const auto other = substitute(attempt);
        if (!other) break;
        if (!make_image(feed, *other, draw, turned, out)) {
          result = {RowStatus::kReplaced, *other};
          break;
        }
      }
    }
    // Never the pixels of the slot's former turn.
    if (result.status != RowStatus::kReplaced) std::memset(out, 0, feed.bytes_per_image());
    // A repeat that fills a short step is told where it counts, and not once more here.
    if (task.valid) {
      fault_point("failure, before its report");
      on_failure_({feed.number(), task.epoch, task.ordinal, sample, *fault, result.status, task.place});
      fault_point("failure, after its report");
    }
  }
  in_hand_.phase.store(static_cast<std::uint32_t>(WorkPhase::kClaim), std::memory_order_relaxed);
  return result;
}

Fault ImageWriter::make_image(FeedContext& feed, std::uint64_t sample, Draw draw, std::optional<ClassAugment> turned,
                              std::byte* out) {
  // What a crash of this process will be charged to, and what a hang is measured from. Phase first, time last.
  in_hand_.sample.store(sample, std::memory_order_relaxed);
  fault_point("in hand, half written");
  in_hand_.feed.store(feed.number(), std::memory_order_relaxed);
  in_hand_.phase.store(static_cast<std::uint32_t>(WorkPhase::kRead), std::memory_order_relaxed);
  in_hand_.since_ns.store(monotonic_ns(), std::memory_order_release);
  // Once may be bad luck; the second try runs here, where a process decodes one sample at a time.
  if (const std::uint32_t crashes = crashes_of(pool_, feed.number(), sample); crashes >= 2)
    return fmt::format("ended {} producers and is quarantined", crashes);

  const FileRequest file = feed.file(sample);
  fault_point("read, before the file", file.path);
  const Reader::Bytes bytes = reader_.take(file);
  if (bytes.fault) return bytes.fault;
  in_hand_.phase.store(static_cast<std::uint32_t>(WorkPhase::kDecode), std::memory_order_relaxed);
  fault_point("decode, before the picture", file.path);
  Fault fault = feed.pipeline().run(bytes.data, decoder_, draw, feed.spec().max_pixels,
                                    reinterpret_cast<std::uint8_t*>(out), turned);
  fault_point("decode, after the picture", file.path);
  return fault;
}

}  // namespace feedring
