// SPDX-License-Identifier: Apache-2.0
// Reserving the pages of a memfd without being killed for it. A memfd knows no ENOSPC: fallocate on too large a one
// ends in the OOM killer.
#pragma once

#include <cstdint>
#include <optional>

namespace feedring {

/// Allocates `bytes` of a memfd in a short-lived child that offers itself to the OOM killer. True: the pages exist.
/// False: memory was not enough (the child was killed, or the kernel said so). Where the OOM killer would take a whole
/// control group with the child (memory.oom.group), it is done here and the caller's arithmetic decides alone.
/// `node`: the NUMA node whose memory is preferred, as long as it has some. Huge pages are asked for where the system
/// may give them to shared memory that asks.
/// Call from a process without other threads. Throws Error(kInternal) where the child cannot be made.
[[nodiscard]] bool reserve_pages(int memfd, std::uint64_t bytes, std::optional<unsigned> node = {});

}  // namespace feedring
