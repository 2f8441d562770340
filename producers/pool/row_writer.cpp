// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/row_writer.hpp"

#include <fmt/format.h>

#include <cstring>

#include "producers/pool/in_hand.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/futex.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {
namespace {

using contract::RowStatus;
using contract::WorkPhase;

// How many substitutes are tried before a row becomes zeros; a class with more bad files than this is beyond repair.
constexpr std::uint64_t kMaxSubstitutes = 8;

template <class T>
void put(const contract::RingShape& shape, const RowTask& task, const char* tensor, T value) {
  const contract::TensorEntry* entry = find_tensor(shape, tensor);
  if (entry != nullptr && entry->row_bytes == sizeof value)
    std::memcpy(task.payload + entry->offset + task.place.row * entry->row_bytes, &value, sizeof value);
}

}  // namespace

RowWriter::RowWriter(Reader& reader, contract::PoolHeader<std::atomic>& pool, contract::InHand<std::atomic>& in_hand,
                     std::function<void(const Failure&)> on_failure)
    : reader_(reader), pool_(pool), in_hand_(in_hand), on_failure_(std::move(on_failure)) {}

contract::RowStatus RowWriter::write(FeedContext& feed, const contract::RingShape& shape, const RowTask& task) {
  const contract::TensorEntry* images = find_tensor(shape, "images");
  auto* pixels = reinterpret_cast<std::uint8_t*>(task.payload + images->offset + task.place.row * images->row_bytes);
  const Plan& plan = feed.plan(task.seed, task.epoch);
  const std::uint64_t planned = plan.sample(task.ordinal);

  std::uint64_t delivered = planned;
  RowStatus status = RowStatus::kOk;
  Fault fault = make_image(feed, planned, plan.draw(task.ordinal, Stream::kAugment), pixels);
  if (fault) {
    status = feed.spec().on_error == OnError::kRaise ? RowStatus::kFailed : RowStatus::kZeroed;
    if (feed.spec().on_error == OnError::kReplace) {
      const auto [begin, end] = feed.index().class_range(feed.index().label(planned));
      for (std::uint64_t attempt = 0; attempt < kMaxSubstitutes; ++attempt) {
        const auto other = plan.substitute(task.ordinal, attempt, begin, end);
        if (!other) break;
        if (!make_image(feed, *other, plan.draw(task.ordinal, Stream::kAugment), pixels)) {
          delivered = *other;
          status = RowStatus::kReplaced;
          break;
        }
      }
    }
    // Never the pixels of the slot's former turn.
    if (status != RowStatus::kReplaced) std::memset(pixels, 0, images->row_bytes);
    // A repeat that fills a short step is told where it counts, and not once more here.
    if (task.valid) {
      fault_point("failure, before its report");
      on_failure_({feed.number(), task.epoch, task.ordinal, planned, *fault, status, task.place});
      fault_point("failure, after its report");
    }
  }
  in_hand_.phase.store(static_cast<std::uint32_t>(WorkPhase::kClaim), std::memory_order_relaxed);

  const bool good = status == RowStatus::kOk || status == RowStatus::kReplaced;
  put(shape, task, "labels", static_cast<std::int64_t>(feed.index().label(delivered)));
  put(shape, task, "sample_ids", static_cast<std::int64_t>(delivered));
  fault_point("row, within its columns");
  put(shape, task, "valid", static_cast<std::uint8_t>(task.valid && good));
  put(shape, task, "status", static_cast<std::uint8_t>(status));
  return status;
}

Fault RowWriter::make_image(FeedContext& feed, std::uint64_t sample, Draw draw, std::uint8_t* out) {
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
  Fault fault = feed.pipeline().run(bytes.data, decoder_, draw, feed.spec().max_pixels, out);
  fault_point("decode, after the picture", file.path);
  return fault;
}

}  // namespace feedring
