// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_limits.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <feedring/error.hpp>

#include "runtime/cgroup.hpp"

namespace feedring {
namespace {

namespace fs = std::filesystem;

// Version 1 writes "no limit" as the largest number of whole pages, 9223372036854771712; page sizes differ.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

std::uint64_t reclaimable(const fs::path& folder, int version) {
  const std::string prefix = version == 1 ? "total_" : "";  // with the groups below; version 2 always counts them
  const fs::path stat = folder / "memory.stat";
  return read_number_of(stat, prefix + "inactive_file").value_or(0) +
         read_number_of(stat, prefix + "active_file").value_or(0) / 2;
}

void lower(MemoryHeadroom& headroom, const fs::path& folder, int version, const char* limit_file,
           const char* usage_file) {
  const std::optional<std::uint64_t> limit = read_number(folder / limit_file);
  const std::optional<std::uint64_t> usage = read_number(folder / usage_file);
  if (!limit || !usage || *limit >= kNoLimit) return;
  const std::uint64_t used = *usage - std::min(*usage, reclaimable(folder, version));
  const std::uint64_t left = *limit - std::min(*limit, used);
  if (left >= headroom.bytes) return;
  headroom.bytes = left;
  headroom.limit = std::string(limit_file) + " of " + folder.string() + " (" + human_bytes(*limit) + ", " +
                   human_bytes(used) + " of them used)";
}

}  // namespace

MemoryHeadroom memory_headroom(const fs::path& root) {
  const fs::path meminfo = root / "proc/meminfo";
  const std::optional<std::uint64_t> available = read_number_of(meminfo, "MemAvailable");
  if (!available)
    throw Error(ErrorKind::kInternal, "cannot read MemAvailable of " + meminfo.string() + ": is /proc mounted?");
  MemoryHeadroom headroom{*available * 1024, "MemAvailable of " + meminfo.string()};
  for (const Cgroup& cgroup : cgroups_of("memory", root)) {
    for (const fs::path& folder : cgroup.folders) {
      if (cgroup.version == 2) {
        lower(headroom, folder, 2, "memory.max", "memory.current");
        lower(headroom, folder, 2, "memory.high", "memory.current");
        continue;
      }
      // Until Linux 5.11 a group could refuse to count its children; then its limit is none of ours.
      const bool own = folder == cgroup.folders.front();
      if (!own && read_number(folder / "memory.use_hierarchy") == 0) break;
      lower(headroom, folder, 1, "memory.limit_in_bytes", "memory.usage_in_bytes");
      lower(headroom, folder, 1, "memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes");
    }
  }
  return headroom;
}

std::optional<fs::path> oom_kills_group(const fs::path& root) {
  std::optional<fs::path> topmost;
  for (const Cgroup& cgroup : cgroups_of("memory", root)) {
    for (const fs::path& folder : cgroup.folders) {
      if (cgroup.version == 2 && read_number(folder / "memory.oom.group") == 1) topmost = folder;
    }
  }
  return topmost;
}

std::uint64_t page_table_bytes(std::uint64_t bytes, std::uint64_t page) noexcept {
  const std::uint64_t entries = page / 8;
  std::uint64_t mapped = (bytes + page - 1) / page;  // entries in use one level below
  std::uint64_t tables = 0;
  for (int level = 0; level < 3 && mapped != 0; ++level) {
    mapped = (mapped + entries - 1) / entries + 1;
    tables += mapped;
  }
  return tables * page;
}

std::uint64_t page_index_bytes(std::uint64_t bytes, std::uint64_t page) noexcept {
  std::uint64_t nodes = 0;
  for (std::uint64_t below = (bytes + page - 1) / page; below > 1;) {
    below = (below + 63) / 64;
    nodes += below;
  }
  return nodes * 576;
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr std::array<const char*, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would be printed as 1024.0 of the smaller unit.
  while (amount >= 1023.95 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", amount, kUnits[unit]);
  return text.data();
}

}  // namespace feedring
