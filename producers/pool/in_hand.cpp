// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/in_hand.hpp"

#include <algorithm>

namespace feedring {

using contract::WorkPhase;

std::optional<HeldSample> held_sample(const contract::InHand<std::atomic>& hand, const std::vector<NodeFeed>& feeds) {
  HeldSample held;
  // Acquire: sample, feed and phase were written before the time.
  held.since_ns = hand.since_ns.load(std::memory_order_acquire);
  held.sample = hand.sample.load(std::memory_order_relaxed);
  held.feed = hand.feed.load(std::memory_order_relaxed);
  held.phase = static_cast<WorkPhase>(hand.phase.load(std::memory_order_relaxed));
  if (held.since_ns == 0 || (held.phase != WorkPhase::kRead && held.phase != WorkPhase::kDecode)) return std::nullopt;
  if (held.feed >= feeds.size() || held.sample >= feeds[held.feed].index.size()) return std::nullopt;
  const Index& index = feeds[held.feed].index;
  held.called = index.nameless() ? index.called(held.sample) + " of feed '" + feeds[held.feed].spec.name + '\''
                                 : index.called(held.sample);
  return held;
}

void suspect(contract::PoolHeader<std::atomic>& pool, const HeldSample& held) {
  const std::uint32_t count = std::min(pool.suspects.load(std::memory_order_relaxed), contract::kMaxSuspects);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto& entry = pool.suspect[i];
    if (entry.sample.load(std::memory_order_relaxed) == held.sample &&
        entry.feed.load(std::memory_order_relaxed) == held.feed) {
      entry.crashes.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  if (count == contract::kMaxSuspects) return;
  auto& entry = pool.suspect[count];
  entry.sample.store(held.sample, std::memory_order_relaxed);
  entry.feed.store(held.feed, std::memory_order_relaxed);
  entry.crashes.store(1, std::memory_order_relaxed);
  // Released: who sees the count sees the entry.
  pool.suspects.store(count + 1, std::memory_order_release);
}

std::uint32_t crashes_of(const contract::PoolHeader<std::atomic>& pool, std::uint32_t feed,
                         std::uint64_t sample) noexcept {
  const std::uint32_t count = std::min(pool.suspects.load(std::memory_order_acquire), contract::kMaxSuspects);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& entry = pool.suspect[i];
    if (entry.sample.load(std::memory_order_relaxed) == sample && entry.feed.load(std::memory_order_relaxed) == feed)
      return entry.crashes.load(std::memory_order_relaxed);
  }
  return 0;
}

}  // namespace feedring
