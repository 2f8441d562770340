// SPDX-License-Identifier: Apache-2.0
// Who is served next: the rule by which a free producer picks a ring and a slot. It reads hints only, so a wrong choice
// costs a little order and never a sample. Templates, so that the model checker runs this very text (tests/model).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime/ring.hpp"

namespace feedring {

struct SlotChoice {
  std::uint32_t ring = 0;
  std::uint32_t slot = 0;
  contract::SlotWord word{};
};

namespace detail {

/// The open slot of a ring with the lowest sequence, and that sequence.
template <template <class> class Atom>
[[nodiscard]] std::optional<std::pair<std::uint64_t, SlotChoice>> lowest_open(const Ring<Atom>& ring,
                                                                              std::uint32_t ring_number) {
  std::optional<std::pair<std::uint64_t, SlotChoice>> best;
  for (std::uint32_t slot = 0; slot < ring.shape().slots; ++slot) {
    const contract::SlotWord word = ring.slot(slot);
    if (word.phase != contract::Phase::kOffered || ring.full(word)) continue;
    const std::uint64_t sequence = ring.sequence_hint(slot);
    if (best && best->first <= sequence) continue;
    for (std::uint32_t task = 0; task < ring.shape().tasks; ++task) {
      if (!ring.open_hint(slot, task, word)) continue;
      best = {sequence, SlotChoice{ring_number, slot, word}};
      break;
    }
  }
  return best;
}

}  // namespace detail

/// The slot of `rings` to work on next, or nullopt where no task is open. First a ring whose owner waits now, then the
/// smallest lead over its owner; a ring that nobody has iterated comes last; ties go to the first ring from `turn` on,
/// which differs from producer to producer. Within a ring the lowest sequence.
template <template <class> class Atom = std::atomic>
[[nodiscard]] std::optional<SlotChoice> choose(std::type_identity_t<std::span<const Ring<Atom>>> rings,
                                               std::uint32_t turn) {
  std::optional<SlotChoice> best;
  std::tuple<bool, bool, std::uint64_t> best_rank;  // smaller is served earlier
  for (std::uint32_t i = 0; i < rings.size(); ++i) {
    const auto number = static_cast<std::uint32_t>((turn + i) % rings.size());
    const Ring<Atom>& ring = rings[number];
    const auto found = detail::lowest_open(ring, number);
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

/// The open task of a slot that producer `position` of `producers` should claim: each begins at a place of its own, so
/// that they meet only near the end of a batch; nullopt where none is open.
template <template <class> class Atom>
[[nodiscard]] std::optional<std::uint32_t> open_task(const Ring<Atom>& ring, const SlotChoice& choice,
                                                     std::uint32_t position, std::uint32_t producers) {
  const std::uint32_t tasks = ring.shape().tasks;
  const std::uint32_t start = producers == 0 ? 0 : position % producers * tasks / producers;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const std::uint32_t task = (start + i) % tasks;
    if (ring.open_hint(choice.slot, task, choice.word)) return task;
  }
  return std::nullopt;
}

}  // namespace feedring
