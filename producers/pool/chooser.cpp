// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/chooser.hpp"

#include <tuple>

namespace feedring {
namespace {

bool has_open_task(const Ring<>& ring, std::uint32_t slot, contract::SlotWord word) {
  for (std::uint32_t task = 0; task < ring.shape().tasks; ++task) {
    if (ring.open_hint(slot, task, word)) return true;
  }
  return false;
}

// The open slot with the lowest sequence.
std::optional<std::pair<std::uint64_t, SlotChoice>> lowest(const Ring<>& ring, std::uint32_t ring_number) {
  std::optional<std::pair<std::uint64_t, SlotChoice>> best;
  for (std::uint32_t slot = 0; slot < ring.shape().slots; ++slot) {
    const contract::SlotWord word = ring.slot(slot);
    if (word.phase != contract::Phase::kOffered || ring.full(word)) continue;
    const std::uint64_t sequence = ring.sequence_hint(slot);
    if (best && best->first <= sequence) continue;
    if (has_open_task(ring, slot, word)) best = {sequence, SlotChoice{ring_number, slot, word}};
  }
  return best;
}

}  // namespace

std::optional<SlotChoice> choose(std::span<const Ring<>> rings, std::uint32_t turn) {
  std::optional<SlotChoice> best;
  std::tuple<bool, bool, std::uint64_t> best_rank;  // smaller is served earlier
  for (std::uint32_t i = 0; i < rings.size(); ++i) {
    const auto number = static_cast<std::uint32_t>((turn + i) % rings.size());
    const Ring<>& ring = rings[number];
    const auto found = lowest(ring, number);
    if (!found) continue;
    const auto& header = ring.header();
    const std::uint64_t next = header.next.load(std::memory_order_relaxed);
    const std::tuple rank{header.iterated.load(std::memory_order_relaxed) == 0,
                          header.waiting.load(std::memory_order_relaxed) == 0,
                          found->first > next ? found->first - next : 0};
    if (!best || rank < best_rank) {
      best = found->second;
      best_rank = rank;
    }
  }
  return best;
}

std::optional<std::uint32_t> open_task(const Ring<>& ring, const SlotChoice& choice, std::uint32_t position,
                                       std::uint32_t producers) {
  const std::uint32_t tasks = ring.shape().tasks;
  const std::uint32_t start = producers == 0 ? 0 : position % producers * tasks / producers;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const std::uint32_t task = (start + i) % tasks;
    if (ring.open_hint(choice.slot, task, choice.word)) return task;
  }
  return std::nullopt;
}

}  // namespace feedring
