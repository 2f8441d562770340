// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_env.hpp"

#include <charconv>
#include <cstdlib>
#include <feedring/error.hpp>

namespace feedring {
namespace {

constexpr std::uint32_t kSlurmSpecialSteps = 0xFFFFFFF0;  // slurm.h: SLURM_BATCH_SCRIPT, SLURM_INTERACTIVE_STEP, …

[[noreturn]] void fail(const std::string& sentence) { throw Error(ErrorKind::kUsage, sentence); }

std::optional<std::string> get(const Environment& environment, const char* name) {
  std::optional<std::string> value = environment(name);
  if (value && value->empty()) value.reset();
  return value;
}
bool has(const Environment& environment, const char* name) { return get(environment, name).has_value(); }

std::optional<std::uint32_t> parse(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// A number and who said it, so that an error can quote it.
struct Said {
  std::uint32_t number;
  std::string by;  ///< "RANK=1"
};
using MaybeSaid = std::optional<Said>;

MaybeSaid read(const Environment& environment, const char* name) {
  const std::optional<std::string> text = get(environment, name);
  if (!text) return std::nullopt;
  const std::optional<std::uint32_t> number = parse(*text);
  if (!number) fail(std::string(name) + "=\"" + *text + "\" in the environment is not a whole number");
  return Said{*number, std::string(name) + '=' + *text};
}

MaybeSaid argument(std::optional<std::uint32_t> number, const char* name) {
  if (!number) return std::nullopt;
  return Said{*number, "the argument " + std::string(name) + '=' + std::to_string(*number)};
}

struct Facts {
  MaybeSaid rank;
  MaybeSaid world;
  MaybeSaid local_rank;
  MaybeSaid local_world;
};

Facts facts_of_torch_names(const Environment& environment) {
  return {read(environment, "RANK"), read(environment, "WORLD_SIZE"), read(environment, "LOCAL_RANK"),
          read(environment, "LOCAL_WORLD_SIZE")};
}

Facts facts_of_slurm(const Environment& environment) {
  Facts facts{read(environment, "SLURM_PROCID"), read(environment, "SLURM_STEP_NUM_TASKS"),
              read(environment, "SLURM_LOCALID"), std::nullopt};
  if (!facts.world) facts.world = read(environment, "SLURM_NTASKS");
  const MaybeSaid node = read(environment, "SLURM_NODEID");
  const std::optional<std::string> list = get(environment, "SLURM_STEP_TASKS_PER_NODE");
  if (node && list) {
    const std::optional<std::uint32_t> tasks = slurm_tasks_of_node(*list, node->number);
    if (tasks) facts.local_world = Said{*tasks, "SLURM_STEP_TASKS_PER_NODE=" + *list + " at " + node->by};
  }
  return facts;
}

Facts facts_of(Launcher launcher, const Environment& environment) {
  switch (launcher) {
    case Launcher::kTorch:
    case Launcher::kStated: return facts_of_torch_names(environment);
    case Launcher::kOpenMpi:
      return {read(environment, "OMPI_COMM_WORLD_RANK"), read(environment, "OMPI_COMM_WORLD_SIZE"),
              read(environment, "OMPI_COMM_WORLD_LOCAL_RANK"), read(environment, "OMPI_COMM_WORLD_LOCAL_SIZE")};
    case Launcher::kMpich:
      return {read(environment, "PMI_RANK"), read(environment, "PMI_SIZE"), read(environment, "MPI_LOCALRANKID"),
              read(environment, "MPI_LOCALNRANKS")};
    case Launcher::kSlurm: return facts_of_slurm(environment);
    case Launcher::kNone: break;
  }
  return {};
}

void merge(MaybeSaid& launcher, const MaybeSaid& stated, const char* what) {
  if (!stated) return;
  if (launcher && launcher->number != stated->number) {
    fail(stated->by + " and " + launcher->by + " contradict each other about the " + what +
         ": unset the one that is wrong, or pass it as an argument");
  }
  if (!launcher) launcher = stated;
}

Facts facts_of_environment(Launcher launcher, const Environment& environment) {
  Facts facts = facts_of(launcher, environment);
  if (launcher == Launcher::kTorch || launcher == Launcher::kStated) return facts;
  const Facts stated = facts_of_torch_names(environment);
  const bool one_task = facts.world && facts.world->number == 1;
  if (one_task && stated.rank && stated.world) return stated;
  merge(facts.rank, stated.rank, "rank");
  merge(facts.world, stated.world, "number of ranks");
  merge(facts.local_rank, stated.local_rank, "rank on this node");
  merge(facts.local_world, stated.local_world, "number of ranks on this node");
  return facts;
}

bool agree(const MaybeSaid& a, const MaybeSaid& b) { return !a || !b || a->number == b->number; }

/// Arguments over the environment. What the environment says of a place on the node belongs to the rank that it
/// names: a program that starts ranks itself and passes rank = 3 must not take LOCAL_RANK of its parent's RANK=0.
Facts with_arguments(const Facts& said, const Facts& environment) {
  Facts facts = said;
  const bool same_rank = agree(said.rank, environment.rank) && agree(said.world, environment.world);
  if (!facts.rank) facts.rank = environment.rank;
  if (!facts.world) facts.world = environment.world;
  if (same_rank && agree(said.local_rank, environment.local_rank)) {
    if (!facts.local_rank) facts.local_rank = environment.local_rank;
    if (!facts.local_world) facts.local_world = environment.local_world;
  }
  return facts;
}

/// Fills in what the others imply.
void complete(Facts& facts) {
  if (!facts.world && !facts.rank) facts.world = Said{1, "a world of one (no launcher says otherwise)"};
  if (!facts.world) {
    fail(facts.rank->by + " is given, but not the number of ranks: set WORLD_SIZE, or pass it as an argument");
  }
  if (facts.world->number == 1) {
    if (!facts.rank) facts.rank = Said{0, facts.world->by};
    if (!facts.local_rank) facts.local_rank = Said{0, facts.world->by};
    if (!facts.local_world) facts.local_world = Said{1, facts.world->by};
  }
  if (!facts.rank) {
    fail(facts.world->by +
         " is given, but not which rank this is: set RANK, start through torchrun, srun or mpirun, or " +
         "pass it as an argument");
  }
  const bool one_node = facts.local_world && facts.local_world->number == facts.world->number;
  if (!facts.local_rank && one_node) facts.local_rank = Said{facts.rank->number, facts.rank->by};
  if (!facts.local_rank) {
    fail("rank " + std::to_string(facts.rank->number) + " (" + facts.rank->by + ") of " +
         std::to_string(facts.world->number) +
         " does not know its place among the ranks of this node: set LOCAL_RANK and " +
         "LOCAL_WORLD_SIZE, or pass local_rank as an argument");
  }
}

void check(const Facts& facts) {
  const auto below = [](const Said& a, const Said& b, const char* must) {
    if (a.number >= b.number) fail(a.by + " and " + b.by + " cannot both be right: " + must);
  };
  if (facts.world->number == 0) fail(facts.world->by + " leaves no rank: the number of ranks is at least 1");
  below(*facts.rank, *facts.world, "ranks count from 0 to one less than their number");
  below(*facts.local_rank, *facts.world, "ranks count from 0 to one less than their number");
  if (!facts.local_world) return;
  below(*facts.local_rank, *facts.local_world, "ranks of a node count from 0 to one less than their number");
  if (facts.local_world->number > facts.world->number) {
    fail(facts.local_world->by + " and " + facts.world->by +
         " cannot both be right: a node has no more ranks than there are");
  }
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::string_view name_of(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::kNone: return "no launcher";
    case Launcher::kStated: return "RANK and WORLD_SIZE";
    case Launcher::kSlurm: return "Slurm";
    case Launcher::kMpich: return "MPICH";
    case Launcher::kOpenMpi: return "Open MPI";
    case Launcher::kTorch: return "torchrun";
  }
  return "?";
}

bool in_slurm_step(const Environment& environment) {
  std::optional<std::string> step = get(environment, "SLURM_STEP_ID");
  if (!step) step = get(environment, "SLURM_STEPID");
  const std::optional<std::uint32_t> number = step ? parse(*step) : std::nullopt;
  return number && *number < kSlurmSpecialSteps;
}

Launcher detect_launcher(const Environment& environment) {
  const auto set = [&](const char* name) { return has(environment, name); };
  if (set("RANK") && set("LOCAL_RANK") && (set("TORCHELASTIC_RUN_ID") || set("GROUP_RANK"))) return Launcher::kTorch;
  if (set("OMPI_COMM_WORLD_RANK")) return Launcher::kOpenMpi;
  if (set("PMI_RANK") && set("MPI_LOCALRANKID")) return Launcher::kMpich;
  if (set("SLURM_PROCID") && in_slurm_step(environment)) return Launcher::kSlurm;
  if (set("PMI_RANK")) return Launcher::kMpich;
  if (set("RANK") || set("WORLD_SIZE")) return Launcher::kStated;
  return Launcher::kNone;
}

Launch read_launch(const LaunchArguments& arguments, const Environment& environment) {
  const Facts said{argument(arguments.rank, "rank"), argument(arguments.world, "world"),
                   argument(arguments.local_rank, "local_rank"), argument(arguments.local_world, "local_world")};
  Launch launch;
  launch.launcher = detect_launcher(environment);
  Facts from_environment;
  try {
    from_environment = facts_of_environment(launch.launcher, environment);
  } catch (const Error&) {
    // A muddled environment does not matter to a program that says all of it itself.
    if (!said.rank || !said.world || !said.local_rank) throw;
  }
  Facts facts = with_arguments(said, from_environment);
  complete(facts);
  check(facts);
  launch.rank = facts.rank->number;
  launch.world = facts.world->number;
  launch.local_rank = facts.local_rank->number;
  if (facts.local_world) launch.local_world = facts.local_world->number;
  const char* counter = launch.launcher == Launcher::kTorch   ? "TORCHELASTIC_RESTART_COUNT"
                        : launch.launcher == Launcher::kSlurm ? "SLURM_RESTART_COUNT"
                                                              : nullptr;
  if (counter != nullptr) {
    if (const MaybeSaid restart = read(environment, counter)) launch.restart = restart->number;
  }
  return launch;
}

std::optional<std::uint32_t> slurm_tasks_of_node(std::string_view list, std::uint32_t node) {
  std::uint64_t first = 0;  // node that the current entry begins with
  while (true) {
    const std::size_t comma = list.find(',');
    std::string_view entry = list.substr(0, comma);
    std::uint32_t repeats = 1;
    if (const std::size_t open = entry.find("(x"); open != std::string_view::npos && entry.back() == ')') {
      const std::optional<std::uint32_t> parsed = parse(entry.substr(open + 2, entry.size() - open - 3));
      if (!parsed || *parsed == 0) return std::nullopt;
      repeats = *parsed;
      entry = entry.substr(0, open);
    }
    const std::optional<std::uint32_t> tasks = parse(entry);
    if (!tasks) return std::nullopt;
    if (node < first + repeats) return tasks;
    first += repeats;
    if (comma == std::string_view::npos) return std::nullopt;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace feedring
