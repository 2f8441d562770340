// SPDX-License-Identifier: Apache-2.0
#include "consumers/stall.hpp"

#include <fmt/format.h>

#include <bit>

namespace feedring {
namespace {

using contract::Claimant;
using contract::WorkPhase;

constexpr std::uint32_t kMostTasks = 4;  // more would hide the sentence

std::string describe_claimant(const RingMemory& memory, Claimant claimant, std::uint64_t now_ns) {
  if (claimant == contract::kNobody) return "no producer has taken it";
  if (claimant == contract::kOwner) return "this rank has cancelled it";
  if (claimant > contract::kMaxProducers)
    return fmt::format("its word names claimant {}, which does not exist", claimant);
  const auto& hand = memory.pool().producer[claimant - 1].in_hand;
  const std::uint64_t since = hand.since_ns.load(std::memory_order_relaxed);
  if (since == 0 || since > now_ns) return fmt::format("producer {} has it and no sample in hand", claimant);
  const double seconds = static_cast<double>(now_ns - since) * 1e-9;
  const auto phase = static_cast<WorkPhase>(hand.phase.load(std::memory_order_relaxed));
  if (phase != WorkPhase::kRead && phase != WorkPhase::kDecode)
    return fmt::format("producer {} took it {:.1f} s ago", claimant, seconds);
  return fmt::format("producer {} has been {} sample {} for {:.1f} s", claimant,
                     phase == WorkPhase::kRead ? "reading" : "decoding", hand.sample.load(std::memory_order_relaxed),
                     seconds);
}

std::string describe_holders(const RingMemory& memory) {
  std::uint32_t user = 0;
  std::uint32_t device = 0;
  const std::uint32_t slots = memory.ring().shape().slots;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    user += memory.holder(slot) == RingMemory::Holder::kUser ? 1 : 0;
    const RingMemory::Holder holder = memory.holder(slot);
    device += holder == RingMemory::Holder::kDevice || holder == RingMemory::Holder::kAhead ? 1 : 0;
  }
  const std::string failure = memory.device()->failure();
  return fmt::format("no slot came free for it: of {}, the program holds {}, and the device has not finished with {}{}",
                     slots, user, device, failure.empty() ? "" : "; " + failure);
}

}  // namespace

std::string describe_stall(const RingMemory& memory, std::optional<std::uint32_t> slot, std::uint64_t now_ns) {
  if (!slot) return describe_holders(memory);
  const Ring<>& ring = memory.ring();
  const std::uint32_t tasks = ring.shape().tasks;
  const std::uint32_t done = ring.slot(*slot).done & contract::full(tasks);
  std::string text = fmt::format("slot {} has {} of {} tasks done", *slot, std::popcount(done), tasks);
  std::uint32_t told = 0;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    if ((done & (1U << task)) != 0) continue;
    if (++told > kMostTasks) return text + "; …";
    text += fmt::format("; task {}: {}", task, describe_claimant(memory, ring.task(*slot, task).claimant, now_ns));
  }
  return text;
}

}  // namespace feedring
