// SPDX-License-Identifier: Apache-2.0
// How much host memory the ranks of a node will pin if they use a device, told before anything starts, beside the limit
// of locked memory. That limit is what whoever pins may be held to, not what always counts: NVIDIA's kernel module for
// Linux takes the pages without asking it (os_lock_user_pages of its published source), mlock() and other drivers ask.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "producers/pool/memory_plan.hpp"

namespace feedring {

/// What the kernel lets this process lock, and what it starts.
struct LockedMemory {
  std::optional<std::uint64_t> limit;  ///< RLIMIT_MEMLOCK in bytes, the soft one; none: unlimited
  bool exempt = false;                 ///< has CAP_IPC_LOCK, to which the limit does not apply outside user namespaces
};
/// Of the calling thread.
[[nodiscard]] LockedMemory locked_memory() noexcept;

struct PinnedPlan {
  std::uint64_t rank_bytes = 0;  ///< the rings of one rank, whole mappings
  std::uint64_t node_bytes = 0;  ///< of all ranks of this node
  LockedMemory locked;

  /// What a rank may meet, in one sentence; empty where its rings are within the limit, or no limit applies.
  [[nodiscard]] std::string note() const;
};

[[nodiscard]] PinnedPlan plan_pinned(const MemoryPlan& memory, const LockedMemory& locked = locked_memory());

/// One line for people, with the note where there is one; and as JSON.
[[nodiscard]] std::string to_text(const PinnedPlan& plan);
[[nodiscard]] nlohmann::json to_json(const PinnedPlan& plan);

}  // namespace feedring
