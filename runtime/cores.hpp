// SPDX-License-Identifier: Apache-2.0
// How many cores this process may use, which is the default number of producers: a container with a quota of two cores
// on a machine of 128 must not start 128 producers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace feedring {

struct GrantedCores {
  std::uint32_t cores = 1;  ///< at least 1
  std::string limit;        ///< what sets it, for a message: "the affinity mask", "cpu.max of /sys/fs/cgroup/a"
};

/// Cores in the affinity mask of the calling thread (taskset, cpusets, Slurm's task plugins); at least 1.
[[nodiscard]] std::uint32_t affinity_cores() noexcept;

/// The smaller of `affinity` and every processor quota above this process, rounded up to whole cores: version 1
/// (cpu.cfs_quota_us / cpu.cfs_period_us) and version 2 (cpu.max). `root` stands for "/" (tests make one up).
[[nodiscard]] GrantedCores granted_cores(std::uint32_t affinity = affinity_cores(),
                                         const std::filesystem::path& root = "/");

}  // namespace feedring
