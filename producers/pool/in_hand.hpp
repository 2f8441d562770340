// SPDX-License-Identifier: Apache-2.0
// What a producer says it is doing, as the supervisor may use it: its words may hold anything, so they are copied and
// checked against the feeds first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "producers/pool/node_feed.hpp"
#include "runtime/contract.hpp"

namespace feedring {

struct HeldSample {
  std::uint32_t feed = 0;    ///< a number of `feeds`
  std::uint64_t sample = 0;  ///< below the size of its index
  std::uint64_t since_ns = 0;
  contract::WorkPhase phase = contract::WorkPhase::kRead;
  std::string called;  ///< for messages: its path, relative to the data, or its number and feed
};

/// The sample that a producer reads or decodes; nullopt between samples, and where its words make no sense.
[[nodiscard]] std::optional<HeldSample> held_sample(const contract::InHand<std::atomic>& hand,
                                                    const std::vector<NodeFeed>& feeds);

/// The supervisor, after a crash or a hang that a file can have caused: one more against the sample. Full: forgotten.
void suspect(contract::PoolHeader<std::atomic>& pool, const HeldSample& held);

/// How often a sample has ended a producer; producers ask before they take it up.
[[nodiscard]] std::uint32_t crashes_of(const contract::PoolHeader<std::atomic>& pool, std::uint32_t feed,
                                       std::uint64_t sample) noexcept;

}  // namespace feedring
