// SPDX-License-Identifier: Apache-2.0
// Where this process's control groups lie in the file system, version 1 and version 2 (cgroups(7)).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedring {

struct Cgroup {
  int version;  ///< 1 or 2
  /// The process's own group first, then its ancestors up to the top of what is mounted: a limit on any holds for all
  /// below. Only folders that exist.
  std::vector<std::filesystem::path> folders;
};

/// The groups that may limit `controller` ("memory", "cpu"): version 1's hierarchy of that controller, version 2's
/// hierarchy, or both on a hybrid system; empty where none is mounted. `root` stands for "/": proc/self/mountinfo,
/// proc/self/cgroup and all mount points are looked for below it.
[[nodiscard]] std::vector<Cgroup> cgroups_of(std::string_view controller, const std::filesystem::path& root = "/");

/// The first line of a small file without its newline; nullopt where it cannot be read.
[[nodiscard]] std::optional<std::string> read_line(const std::filesystem::path& file);

/// The file's number; nullopt where the file is absent or holds something else ("max", "-1").
[[nodiscard]] std::optional<std::uint64_t> read_number(const std::filesystem::path& file);

/// The number behind `key` in a file of lines "key number" or "key: number kB" (as it stands, the unit is not applied).
[[nodiscard]] std::optional<std::uint64_t> read_number_of(const std::filesystem::path& file, std::string_view key);

}  // namespace feedring
