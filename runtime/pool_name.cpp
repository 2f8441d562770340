// SPDX-License-Identifier: Apache-2.0
#include "runtime/pool_name.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <feedring/error.hpp>
#include <fstream>
#include <iterator>
#include <sstream>

namespace feedring {
namespace {

std::string value(const Environment& environment, const char* name) { return environment(name).value_or(""); }

/// "10.0.0.1:29500", or "" where one of the two is missing.
std::string master(const Environment& environment) {
  const std::string address = value(environment, "MASTER_ADDR");
  const std::string port = value(environment, "MASTER_PORT");
  return address.empty() || port.empty() ? "" : address + ':' + port;
}

/// What the innermost launcher calls its job; "" where it says nothing.
std::string own_id(const Environment& environment, Launcher launcher) {
  if (launcher == Launcher::kTorch) {
    const std::string id = value(environment, "TORCHELASTIC_RUN_ID");
    if (!id.empty() && id != "none") return "torch-" + id;
    const std::string at = master(environment);
    return at.empty() ? "" : "torch-" + at;
  }
  for (const auto& [prefix, name] : {std::pair{"pmix-", "PMIX_NAMESPACE"}, std::pair{"pmi-", "PMI_JOBID"}}) {
    const std::string id = value(environment, name);
    if (!id.empty()) return prefix + id;
  }
  const std::string at = master(environment);
  return at.empty() ? "" : "master-" + at;
}

std::string job_of(const Environment& environment, const Launch& launch, std::string_view process) {
  if (launch.world == 1 && launch.launcher != Launcher::kTorch) return "process-" + std::string(process);
  std::string slurm = value(environment, "SLURM_JOB_ID");
  const bool step = in_slurm_step(environment);
  if (!slurm.empty()) {
    slurm.insert(0, "slurm-");
    if (step) {
      const std::string id = value(environment, "SLURM_STEP_ID");
      slurm += '.' + (id.empty() ? value(environment, "SLURM_STEPID") : id);
    }
    if (step && launch.launcher == Launcher::kSlurm) return slurm;
  }
  const std::string own = own_id(environment, launch.launcher);
  // A job without a step is a batch script, which may launch several times.
  if (own.empty() && !step) {
    throw Error(ErrorKind::kUsage,
                "rank " + std::to_string(launch.rank) + " of " + std::to_string(launch.world) +
                    " cannot tell which pool is its job's: set MASTER_ADDR and MASTER_PORT, or FEEDRING_POOL "
                    "to one name for all ranks of a node, or start the job through feedring run");
  }
  return slurm.empty() ? own : own.empty() ? slurm : slurm + '+' + own;
}

std::string node_of(const Environment& environment, const Launch& launch) {
  if (in_slurm_step(environment)) {
    return launch.launcher == Launcher::kSlurm ? 'n' + value(environment, "SLURM_NODEID")
                                               : 't' + value(environment, "SLURM_PROCID");
  }
  return launch.launcher == Launcher::kTorch ? 'g' + value(environment, "GROUP_RANK") : "";
}

std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

}  // namespace

std::string pool_name(const Environment& environment, const Launch& launch, uid_t uid, std::string_view process,
                      std::string_view key) {
  const std::string given = value(environment, "FEEDRING_POOL");
  if (given.size() > kLongestSocketName) {
    throw Error(ErrorKind::kUsage, "FEEDRING_POOL has " + std::to_string(given.size()) +
                                       " bytes, and a socket's name has at most " + std::to_string(kLongestSocketName));
  }
  if (!given.empty()) return given;
  std::string job = job_of(environment, launch, process);
  if (!key.empty()) job.append("+").append(key);
  return pool_name_of(uid, job, node_of(environment, launch));
}

std::string pool_name_of(uid_t uid, std::string_view job, std::string_view node) {
  const std::string prefix = "feedring/" + std::to_string(uid) + '/';
  const std::size_t room = kLongestSocketName - prefix.size() - 1;
  std::string middle(job);
  std::string end(node);
  const auto odd = [](char c) { return c <= ' ' || c > '~' || c == '/'; };
  const bool plain = std::none_of(middle.begin(), middle.end(), odd) && std::none_of(end.begin(), end.end(), odd);
  if (!plain || middle.size() + end.size() > room) {
    const std::string hash = hash_of(middle + '/' + end);
    end.clear();
    std::replace_if(middle.begin(), middle.end(), odd, '_');
    middle = middle.substr(0, room - hash.size() - 1) + '-' + hash;
  }
  return prefix + middle + '/' + end;
}

std::string process_identity() {
  std::string identity = std::to_string(getpid());
  std::ifstream stream("/proc/self/stat");
  const std::string stat{std::istreambuf_iterator<char>(stream), {}};
  // The second field is the program's name in parentheses and may hold anything, blanks and parentheses included.
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  identity += '.' + field;
  std::array<char, 64> link{};
  const ssize_t length = readlink("/proc/self/ns/pid", link.data(), link.size());
  for (ssize_t i = 0; i < length; ++i) {
    if (i == 0) identity += '.';
    if (link[static_cast<std::size_t>(i)] >= '0' && link[static_cast<std::size_t>(i)] <= '9') {
      identity += link[static_cast<std::size_t>(i)];
    }
  }
  return identity;
}

}  // namespace feedring
