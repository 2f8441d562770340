// SPDX-License-Identifier: Apache-2.0
#include "runtime/cores.hpp"

#include <sched.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "runtime/cgroup.hpp"

namespace feedring {
namespace {

namespace fs = std::filesystem;

struct Quota {
  std::uint64_t share;
  std::uint64_t period;  ///< both in microseconds
};

std::optional<Quota> quota_of(const fs::path& folder, int version) {
  Quota quota{};
  if (version == 1) {
    const std::optional<std::uint64_t> share = read_number(folder / "cpu.cfs_quota_us");  // "-1": none, no number
    const std::optional<std::uint64_t> period = read_number(folder / "cpu.cfs_period_us");
    if (!share || !period) return std::nullopt;
    quota = {*share, *period};
  } else {
    const std::string line = read_line(folder / "cpu.max").value_or("");  // "150000 100000", or "max 100000"
    const char* end = line.data() + line.size();
    const auto share = std::from_chars(line.data(), end, quota.share);
    if (share.ec != std::errc() || share.ptr == end || *share.ptr != ' ') return std::nullopt;
    if (std::from_chars(share.ptr + 1, end, quota.period).ec != std::errc()) return std::nullopt;
  }
  if (quota.share == 0 || quota.period == 0) return std::nullopt;
  return quota;
}

}  // namespace

std::uint32_t affinity_cores() noexcept {
  // The kernel refuses a mask smaller than its own, whatever number of processors is really there.
  for (int processors = 1024; processors <= (1 << 20); processors *= 2) {
    cpu_set_t* set = CPU_ALLOC(processors);
    if (set == nullptr) return 1;
    const std::size_t size = CPU_ALLOC_SIZE(processors);
    const bool got = sched_getaffinity(0, size, set) == 0;
    const bool too_small = !got && errno == EINVAL;
    const int count = got ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (!too_small) return static_cast<std::uint32_t>(std::max(count, 1));
  }
  return 1;
}

GrantedCores granted_cores(std::uint32_t affinity, const fs::path& root) {
  GrantedCores granted{std::max(affinity, 1U), "the affinity mask"};
  for (const Cgroup& cgroup : cgroups_of("cpu", root)) {
    for (const fs::path& folder : cgroup.folders) {
      const std::optional<Quota> quota = quota_of(folder, cgroup.version);
      if (!quota) continue;
      const std::uint64_t cores = (quota->share - 1) / quota->period + 1;
      if (cores >= granted.cores) continue;
      granted.cores = static_cast<std::uint32_t>(cores);
      granted.limit = std::string(cgroup.version == 1 ? "cpu.cfs_quota_us of " : "cpu.max of ") + folder.string();
    }
  }
  return granted;
}

}  // namespace feedring
