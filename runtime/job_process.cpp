// SPDX-License-Identifier: Apache-2.0
#include "runtime/job_process.hpp"

#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

#include "runtime/process.hpp"

namespace feedring {
namespace {

constexpr int kDeepest = 64;  // scripts in scripts

std::string_view rank_variable(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::kOpenMpi: return "OMPI_COMM_WORLD_RANK";
    case Launcher::kMpich: return "PMI_RANK";
    case Launcher::kSlurm: return "SLURM_PROCID";
    default: return "RANK";
  }
}

/// Whether a process was started with this variable (proc(5): environ is as it was then). Another user's, which cannot
/// be read, is a launcher's.
bool began_with(pid_t pid, std::string_view variable) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.starts_with(variable) && entry.substr(variable.size()).starts_with('=')) return true;
  }
  return false;
}

}  // namespace

pid_t job_process(const Launch& launch) {
  const bool stated = launch.launcher == Launcher::kStated;
  if (launch.launcher == Launcher::kNone || (stated && launch.world == 1)) return ::getpid();
  pid_t pid = ::getppid();
  for (int depth = 0; pid > 1 && depth < kDeepest && began_with(pid, rank_variable(launch.launcher)); ++depth)
    pid = parent_of(pid);
  // A container's first process may be torchrun; of what was only stated it is the foster parent.
  return pid > (stated ? 1 : 0) ? pid : ::getpid();
}

}  // namespace feedring
