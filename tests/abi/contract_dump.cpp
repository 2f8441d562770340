// SPDX-License-Identifier: Apache-2.0
#include "tests/abi/contract_dump.hpp"

#include <fmt/format.h>

#include <feedring/dtype.hpp>

#include "runtime/contract.hpp"
#include "runtime/layout.hpp"

// The sizes, offsets and values are the compiler's; the macros only spell each name once.
#define VALUE(name) text += fmt::format("{} = {:#x}\n", #name, static_cast<std::uint64_t>(name))
#define TYPE(type) text += fmt::format("\n{}: {} bytes, aligned to {}\n", #type, sizeof(type), alignof(type))
#define FIELD(type, field) \
  text += fmt::format("  {:5} {:6}  {}\n", offsetof(type, field), sizeof(std::declval<type&>().field), #field)

namespace feedring::test {

using namespace contract;  // NOLINT(google-build-using-namespace): this is a list of its names

std::string dump_contract() {
  std::string text = "# What the processes of one pool agree on. Offsets and sizes in bytes.\n\n";
  VALUE(kRingMagic);
  VALUE(kPoolMagic);
  VALUE(kLine);
  VALUE(kLinePair);
  VALUE(kPage);
  VALUE(kMaxTasks);
  VALUE(kMaxSlots);
  VALUE(kMaxProducers);
  VALUE(kMaxTensors);
  VALUE(kMaxDimensions);
  VALUE(kMaxSuspects);
  VALUE(kTurnMask);
  VALUE(kNobody);
  VALUE(kOwner);
  VALUE(kStoreEmpty);
  VALUE(kStoreDone);
  VALUE(Phase::kIdle);
  VALUE(Phase::kOffered);
  VALUE(Phase::kLeased);
  VALUE(RowStatus::kMissing);
  VALUE(RowStatus::kOk);
  VALUE(RowStatus::kReplaced);
  VALUE(RowStatus::kZeroed);
  VALUE(RowStatus::kFailed);
  VALUE(RowStatus::kCancelled);
  VALUE(WorkPhase::kClaim);
  VALUE(WorkPhase::kRead);
  VALUE(WorkPhase::kDecode);
  VALUE(Dtype::kUint8);
  VALUE(Dtype::kInt64);
  VALUE(Dtype::kFloat32);
  VALUE(Dtype::kFloat16);
  VALUE(Dtype::kBfloat16);

  using RingHeader = contract::RingHeader<std::atomic>;
  TYPE(RingHeader);
  FIELD(RingHeader, magic);
  FIELD(RingHeader, stamp);
  FIELD(RingHeader, shape);
  FIELD(RingHeader, plan);
  FIELD(RingHeader, next);
  FIELD(RingHeader, waiting);
  FIELD(RingHeader, iterated);
  FIELD(RingHeader, ready);
  FIELD(RingHeader, batches);
  FIELD(RingHeader, samples);
  FIELD(RingHeader, wait_ns);
  FIELD(RingHeader, futex_calls);

  TYPE(RingShape);
  FIELD(RingShape, bytes);
  FIELD(RingShape, slots);
  FIELD(RingShape, tasks);
  FIELD(RingShape, rows);
  FIELD(RingShape, tensors);
  FIELD(RingShape, parts);
  FIELD(RingShape, slots_offset);
  FIELD(RingShape, tasks_offset);
  FIELD(RingShape, failures_offset);
  FIELD(RingShape, payload_offset);
  FIELD(RingShape, payload_stride);
  FIELD(RingShape, tensor);

  TYPE(TensorEntry);
  FIELD(TensorEntry, name);
  FIELD(TensorEntry, dtype);
  FIELD(TensorEntry, dimensions);
  FIELD(TensorEntry, shape);
  FIELD(TensorEntry, strides);
  FIELD(TensorEntry, offset);
  FIELD(TensorEntry, row_bytes);

  using SlotControl = contract::SlotControl<std::atomic>;
  TYPE(SlotControl);
  FIELD(SlotControl, word);
  FIELD(SlotControl, ticket);

  using Ticket = contract::Ticket<std::atomic>;
  TYPE(Ticket);
  FIELD(Ticket, sequence);
  FIELD(Ticket, plan);
  FIELD(Ticket, seed);
  FIELD(Ticket, epoch);
  FIELD(Ticket, first);
  FIELD(Ticket, valid);
  FIELD(Ticket, rows);

  using TaskLine = contract::TaskLine<std::atomic>;
  TYPE(TaskLine);
  FIELD(TaskLine, word);

  TYPE(FailureRecord);
  FIELD(FailureRecord, row);
  FIELD(FailureRecord, length);
  FIELD(FailureRecord, text);

  using Event = contract::Event<std::atomic>;
  TYPE(Event);
  FIELD(Event, sequence);
  FIELD(Event, unused);
  FIELD(Event, waiters);

  using PoolHeader = contract::PoolHeader<std::atomic>;
  TYPE(PoolHeader);
  FIELD(PoolHeader, magic);
  FIELD(PoolHeader, stamp);
  FIELD(PoolHeader, bytes);
  FIELD(PoolHeader, work);
  FIELD(PoolHeader, broken);
  FIELD(PoolHeader, why_length);
  FIELD(PoolHeader, why);
  FIELD(PoolHeader, suspects);
  FIELD(PoolHeader, suspect);
  FIELD(PoolHeader, producer);

  using Suspect = contract::Suspect<std::atomic>;
  TYPE(Suspect);
  FIELD(Suspect, sample);
  FIELD(Suspect, feed);
  FIELD(Suspect, crashes);

  using ProducerBlock = contract::ProducerBlock<std::atomic>;
  TYPE(ProducerBlock);
  FIELD(ProducerBlock, in_hand);
  FIELD(ProducerBlock, counters);

  using InHand = contract::InHand<std::atomic>;
  TYPE(InHand);
  FIELD(InHand, since_ns);
  FIELD(InHand, sample);
  FIELD(InHand, feed);
  FIELD(InHand, phase);

  using ProducerCounters = contract::ProducerCounters<std::atomic>;
  TYPE(ProducerCounters);
  FIELD(ProducerCounters, samples);
  FIELD(ProducerCounters, tasks);
  FIELD(ProducerCounters, failures);
  FIELD(ProducerCounters, bytes_read);
  FIELD(ProducerCounters, read_wait_ns);
  FIELD(ProducerCounters, work_ns);
  FIELD(ProducerCounters, idle_ns);
  FIELD(ProducerCounters, futex_calls);

  text += "\nDtype\n";
  for (const Dtype dtype : kDtypes)
    text += fmt::format("{:7} {:6}  {}\n", static_cast<unsigned>(dtype), bytes_of(dtype), name_of(dtype));
  return text;
}

}  // namespace feedring::test
