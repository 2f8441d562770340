// SPDX-License-Identifier: Apache-2.0
// Which rank is this? Read from what launchers put into the environment; feedring adds no collective of its own.
//
// Launchers nest: srun starts a torchrun on each node, mpirun starts its daemons through srun and they inherit its
// variables. The innermost one is right, and what an outer one says is not even compared. From the inside:
//
//   1. arguments of the program                always win
//   2. a torch agent: RANK, LOCAL_RANK and     torchrun, `feedring run --nproc-per-node`
//      TORCHELASTIC_RUN_ID or GROUP_RANK
//   3. Open MPI: OMPI_COMM_WORLD_RANK          mpirun
//   4. MPICH, Intel MPI: PMI_RANK and          mpiexec; Slurm's own PMI sets no MPI_LOCALRANKID
//      MPI_LOCALRANKID
//   5. Slurm: SLURM_PROCID in a step           srun. A batch script and an interactive allocation's shell see
//   SLURM_PROCID=0
//                                              and the whole job's SLURM_NTASKS too, but nobody started the other tasks
//
// RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE without a torch agent are somebody's own statement (a wrapper
// script, an exported variable). They fill in what the launcher does not say; where both say something and differ, that
// is an error with both values, except that a launcher which started one task only (`srun --pty bash`) does not argue
// with a stated RANK and WORLD_SIZE. A variable that is set but empty counts as not set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace feedring {

/// Looks a variable up; nullopt: not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The process's own environment (getenv).
[[nodiscard]] Environment process_environment();

enum class Launcher : std::uint8_t {
  kNone,    ///< no variable says anything
  kStated,  ///< RANK or WORLD_SIZE without a launcher
  kSlurm,
  kMpich,
  kOpenMpi,
  kTorch,
};

/// "torchrun", "Open MPI", …: for messages.
[[nodiscard]] std::string_view name_of(Launcher launcher) noexcept;

/// The innermost launcher that the environment shows.
[[nodiscard]] Launcher detect_launcher(const Environment& environment);

/// Whether this process runs in a Slurm step that srun started (4294967280 and up are Slurm's own numbers for batch
/// scripts and interactive shells).
[[nodiscard]] bool in_slurm_step(const Environment& environment);

/// What the program itself says.
struct LaunchArguments {
  std::optional<std::uint32_t> rank = std::nullopt;
  std::optional<std::uint32_t> world = std::nullopt;
  std::optional<std::uint32_t> local_rank = std::nullopt;
  std::optional<std::uint32_t> local_world = std::nullopt;
};

struct Launch {
  std::uint32_t rank = 0;                    ///< of all ranks of all nodes
  std::uint32_t world = 1;                   ///< ranks of all nodes; rank < world
  std::uint32_t local_rank = 0;              ///< among the ranks of this node: the ring it owns
  std::optional<std::uint32_t> local_world;  ///< ranks of this node; nullopt where nobody says ([pool] ranks may)
  std::uint32_t restart = 0;                 ///< how often its launcher has restarted it (torchrun; Slurm's requeue)
  Launcher launcher =
      Launcher::kNone;  ///< as detected, whatever arguments say; kTorch restarts ranks: a longer grace pays
};

/// Without any launcher and argument: the only rank of a world of one.
/// Throws Error(kUsage), naming variables and values, where a number is malformed, rank >= world, local rank >= local
/// world, local world > world, sources contradict each other, or a rank of a world of several lacks its rank or local
/// rank and nothing implies it.
[[nodiscard]] Launch read_launch(const LaunchArguments& arguments, const Environment& environment);

/// The n-th number of Slurm's compressed list, `2(x2),1` = 2, 2, 1 (sbatch(1), SLURM_TASKS_PER_NODE). nullopt: the list
/// is malformed or shorter.
[[nodiscard]] std::optional<std::uint32_t> slurm_tasks_of_node(std::string_view list, std::uint32_t node);

}  // namespace feedring
