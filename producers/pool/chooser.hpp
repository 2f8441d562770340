// SPDX-License-Identifier: Apache-2.0
// Who is served next: the rule by which a free producer picks a ring and a slot. It reads hints only, so a wrong choice
// costs a little order and never a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/ring.hpp"

namespace feedring {

struct SlotChoice {
  std::uint32_t ring = 0;
  std::uint32_t slot = 0;
  contract::SlotWord word{};
};

/// The slot of `rings` to work on next, or nullopt where no task is open. First a ring whose owner waits now, then the
/// smallest lead over its owner; a ring that nobody has iterated comes last; ties go to the first ring from `turn` on,
/// which differs from producer to producer. Within a ring the lowest sequence.
[[nodiscard]] std::optional<SlotChoice> choose(std::span<const Ring<>> rings, std::uint32_t turn);

/// The open task of a slot that producer `position` of `producers` should claim: each begins at a place of its own, so
/// that they meet only near the end of a batch; nullopt where none is open.
[[nodiscard]] std::optional<std::uint32_t> open_task(const Ring<>& ring, const SlotChoice& choice,
                                                     std::uint32_t position, std::uint32_t producers);

}  // namespace feedring
