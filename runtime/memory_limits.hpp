// SPDX-License-Identifier: Apache-2.0
// How much memory may still be asked for, told before asking: a memfd knows no ENOSPC, and asking for too much ends in
// the kernel's OOM killer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace feedring {

struct MemoryHeadroom {
  std::uint64_t bytes = 0;
  /// What sets it, for a message: "MemAvailable of /proc/meminfo", or "memory.max of /sys/fs/cgroup/a (64.0 MiB, 3.2
  /// MiB of them used)".
  std::string limit;
};

/// The smallest of what the machine has available and what each control group that this process is in leaves, version 1
/// (memory.limit_in_bytes, and memory.memsw.limit_in_bytes where swap is accounted) and version 2 (memory.max, and
/// memory.high, above which the kernel stalls who allocates), up to the top of the hierarchy. File cache that a group
/// could give back counts as free: all of its inactive, half of its active pages, since the latter are in use.
/// An estimate of a moment; others allocate too. `root` stands for "/" (tests make one up).
/// Throws Error(kInternal) where /proc/meminfo has no MemAvailable.
[[nodiscard]] MemoryHeadroom memory_headroom(const std::filesystem::path& root = "/");

/// The topmost control group above this process with memory.oom.group = 1 (version 2): there the OOM killer ends all
/// processes of the group with the one that asked for too much, so nothing may be tried that could wake it.
[[nodiscard]] std::optional<std::filesystem::path> oom_kills_group(const std::filesystem::path& root = "/");

/// Page tables that one mapping of `bytes` needs once it is populated, huge pages aside; charged to the process's
/// control group like the pages themselves. A table is a page of 8 byte entries; three levels grow with the mapping,
/// and a mapping may straddle one table more a level. Linux, Documentation/mm/page_tables.
[[nodiscard]] std::uint64_t page_table_bytes(std::uint64_t bytes, std::uint64_t page = 4096) noexcept;

/// What the kernel's index of a memfd's pages needs: nodes of 576 bytes, one for 64 pages or 64 nodes (xarray, 64 bit).
[[nodiscard]] std::uint64_t page_index_bytes(std::uint64_t bytes, std::uint64_t page = 4096) noexcept;

/// "812 B", "64.0 MiB", "1.5 GiB": for people, rounded to one decimal.
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

}  // namespace feedring
