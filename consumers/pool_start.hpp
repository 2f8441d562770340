// SPDX-License-Identifier: Apache-2.0
// Starting a node's pool from a rank. All ranks of the node try; binding the pool's name is the election, and who loses
// it ends by itself, so that trying again does no harm.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "runtime/control.hpp"
#include "runtime/memfd.hpp"

namespace feedring {

/// The `feedring` command: beside this program, in a bin/ beside this program's folder or the one above it, where it
/// was installed, or else the bare name, which is looked up in PATH.
[[nodiscard]] std::filesystem::path find_command();

class PoolStarter {
 public:
  /// `job`: a process whose end is that of the job (job_process.hpp).
  PoolStarter(std::string config, PoolAddress address, pid_t job, std::filesystem::path command = find_command());
  PoolStarter(PoolStarter&& other) noexcept;
  PoolStarter& operator=(PoolStarter&&) = delete;
  /// Leaves a running pool alone: it ends by itself after its last rank, or with the job. Reaps the command where it
  /// lost the election.
  ~PoolStarter();

  /// To be called while nobody listens at the address: starts `feedring start -c CONFIG --address ADDRESS --from-rank`
  /// in a session of its own, with standard output on standard error and no other open file of this process; later,
  /// looks what became of it, and starts another one where it ended without a reason to give up. Throws Error with the
  /// kind of the command's exit code, and its own sentence, where the configuration, the data or the memory is the
  /// reason, Error(kUsage) where there is no such command.
  void step();

 private:
  void start();

  std::string config_;
  PoolAddress address_;
  std::filesystem::path command_;
  UniqueFd job_;
  pid_t child_ = -1;
  UniqueFd words_;  // where the command leaves the sentence that it ends with: a file, which nobody waits for
  std::chrono::steady_clock::time_point started_;
};

}  // namespace feedring
