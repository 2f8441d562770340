// SPDX-License-Identifier: Apache-2.0
// What a node's pool is called: the ranks of one job on one node, and nobody else, arrive at the same name.
//
//   job    a Slurm step, srun's own tasks        slurm-<job>.<step>
//          a launcher within a step or a job     slurm-<job>.<step>+<its own id>, as below
//          torch agent                           torch-<TORCHELASTIC_RUN_ID>, or torch-<MASTER_ADDR>:<MASTER_PORT>
//          where
//                                                that is "none"
//          Open MPI                              pmix-<PMIX_NAMESPACE>
//          anything else                         pmi-<PMI_JOBID>, master-<MASTER_ADDR>:<MASTER_PORT>
//          the only rank of its world            process-<id of the process>, unless a torch agent started it
//   key    "+<key>" behind the job, where the ranks give one: ranks with another configuration have another pool
//   node   a task of srun                        n<SLURM_NODEID>
//          what a task of srun launched itself   t<SLURM_PROCID>, which stays the same when torchrun restarts its ranks
//          torch agent without Slurm             g<GROUP_RANK>
//
// The node is in the name because two nodes of Slurm, or two torch agents, may share a machine, and with it the
// abstract socket names.
#pragma once

#include <sys/types.h>
#include <string>
#include <string_view>

#include "runtime/launch_env.hpp"

namespace feedring {

inline constexpr std::size_t kLongestSocketName = 107;  ///< sockaddr_un::sun_path without the leading or trailing NUL

/// FEEDRING_POOL as it is where that is set: a path where it starts with '/', else an abstract name. Otherwise the
/// abstract name (without its leading NUL) of the job, key and node above. `process` is process_identity().
/// Throws Error(kUsage) where FEEDRING_POOL is too long for a socket, or where a world of several shows no job: MPICH
/// sets no variable that names one.
[[nodiscard]] std::string pool_name(const Environment& environment, const Launch& launch, uid_t uid,
                                    std::string_view process, std::string_view key = {});

/// feedring/<uid>/<job>/<node>: at most kLongestSocketName bytes of printable ASCII without blanks. A job that is too
/// long or has other bytes is shortened to what fits and a hash of all of it.
[[nodiscard]] std::string pool_name_of(uid_t uid, std::string_view job, std::string_view node);

/// The calling process, told apart from every other one on this machine, earlier ones and other containers' included:
/// pid, start time in clock ticks after boot (proc(5), stat, field 22), pid namespace.
[[nodiscard]] std::string process_identity();

}  // namespace feedring
