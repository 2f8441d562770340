// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/pinned_plan.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/memory_limits.hpp"

namespace feedring {

LockedMemory locked_memory() noexcept {
  LockedMemory locked;
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) locked.limit = limit.rlim_cur;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) == 0)
    locked.exempt = (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
  return locked;
}

PinnedPlan plan_pinned(const MemoryPlan& memory, const LockedMemory& locked) {
  PinnedPlan plan;
  plan.locked = locked;
  for (const MemoryPlan::FeedPart& feed : memory.feeds) plan.rank_bytes += feed.ring_bytes;
  plan.node_bytes = memory.ranks * plan.rank_bytes;
  return plan;
}

std::string PinnedPlan::note() const {
  if (locked.exempt || !locked.limit || rank_bytes <= *locked.limit) return {};
  return fmt::format(
      "the rings of a rank are larger than this limit of locked memory ({} > {}): where the device's driver heeds it, "
      "pinning is refused and batches are copied by way of staging memory, which Feed::device_note() then says; raise "
      "it (ulimit -l, the container's memlock) or lower slots",
      human_bytes(rank_bytes), human_bytes(*locked.limit));
}

std::string to_text(const PinnedPlan& plan) {
  const std::string note = plan.note();
  return fmt::format("pinned, if ranks use a device: {} a rank, {} on this node; limit of locked memory: {}{}{}",
                     human_bytes(plan.rank_bytes), human_bytes(plan.node_bytes),
                     plan.locked.limit ? human_bytes(*plan.locked.limit) : "unlimited",
                     plan.locked.exempt && plan.locked.limit ? ", not for this process (CAP_IPC_LOCK)" : "",
                     note.empty() ? "" : "\npinned: " + note);
}

nlohmann::json to_json(const PinnedPlan& plan) {
  return {{"rank_bytes", plan.rank_bytes},
          {"node_bytes", plan.node_bytes},
          {"locked_limit_bytes", plan.locked.limit ? nlohmann::json(*plan.locked.limit) : nlohmann::json()},
          {"ipc_lock", plan.locked.exempt},
          {"note", plan.note()}};
}

}  // namespace feedring
