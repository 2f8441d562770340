// SPDX-License-Identifier: Apache-2.0
// Other processes, as /proc shows them.
#pragma once

#include <dirent.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace feedring::test {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;         ///< at most 15 bytes
  char state = '?';         ///< proc(5): R, S, D, T, Z …
  std::uint64_t ticks = 0;  ///< CPU time, of sysconf(_SC_CLK_TCK) a second
};

inline std::optional<ProcessInfo> process_info(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  // Not by an iterator, which throws where the process ends between the open and the read.
  std::ostringstream read;
  read << stream.rdbuf();
  const std::string text = read.str();
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  ProcessInfo info;
  info.pid = pid;
  info.name = text.substr(open + 1, close - open - 1);
  std::istringstream fields(text.substr(close + 1));
  fields >> info.state >> info.parent;
  std::string skipped;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  fields >> user >> system;
  info.ticks = user + system;
  return info;
}

/// Zombies included.
inline std::vector<ProcessInfo> children_of(pid_t parent) {
  std::vector<ProcessInfo> found;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const auto info = process_info(pid);
    if (info && info->parent == parent) found.push_back(*info);
  }
  ::closedir(proc);
  return found;
}

/// The living producers that a supervisor has.
inline std::vector<pid_t> producers_of(pid_t supervisor) {
  std::vector<pid_t> found;
  for (const ProcessInfo& child : children_of(supervisor)) {
    if (child.name.starts_with("feedring-prod") && child.state != 'Z') found.push_back(child.pid);
  }
  return found;
}

inline bool lives(pid_t pid) {
  const auto info = process_info(pid);
  return info && info->state != 'Z';
}

}  // namespace feedring::test
