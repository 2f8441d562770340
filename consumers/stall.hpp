// SPDX-License-Identifier: Apache-2.0
// What to say when a batch did not come in time: who has what in hand, and for how long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "consumers/ring_memory.hpp"

namespace feedring {

/// "slot 2 has 5 of 8 tasks done; task 3: producer 4 has been decoding sample 1234 for 119.8 s; task 5: nobody took
/// it", as the shared words say at `now_ns` (CLOCK_MONOTONIC). Without a slot: who holds the slots.
[[nodiscard]] std::string describe_stall(const RingMemory& memory, std::optional<std::uint32_t> slot,
                                         std::uint64_t now_ns);

}  // namespace feedring
