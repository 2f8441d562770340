// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/dump_episodes.hpp"

#include <spdlog/spdlog.h>

#include <feedring/error.hpp>

#include "producers/cli/output.hpp"
#include "producers/config/episode_file.hpp"
#include "producers/plan/episode.hpp"
#include "producers/pool/episode_classes.hpp"
#include "runtime/schedule.hpp"

namespace feedring::cli {
namespace {

class EpisodeDump {
 public:
  EpisodeDump(const DumpOptions& options, const FeedSpec& spec, const Scan& scan)
      : options_(options),
        spec_(spec),
        sampler_(*spec.episodes, episode_classes(scan), spec.seed),
        schedule_(sampler_.tasks_per_epoch(), spec.shard == Shard::kNone ? 1 : options.world, spec.batch_size,
                  spec.remainder) {}

  void write() {
    for (const std::string& name : sampler_.pool().skipped())
      spdlog::warn("class \"{}\" has too few samples for an episode and is left out", printable(name));
    schedule_.demand_steps("episodes");
    if (!options_.json) write_line("epoch\tordinal\tstep\trank\tclasses\tlabel_map\tsupport\tquery\tvalid");
    for_each_share(options_, schedule_.steps(), [this](std::uint64_t step, std::uint32_t rank) { write(step, rank); });
  }

 private:
  void write(std::uint64_t step, std::uint32_t rank) {
    const Share share = schedule_.share(step, spec_.shard == Shard::kNone ? 0 : rank);
    for (std::uint32_t row = 0; row < spec_.batch_size; ++row) {
      const std::uint64_t ordinal = ordinal_of_row(share, row, sampler_.tasks_per_epoch());
      sampler_.episode(options_.epoch, ordinal, episode_);
      nlohmann::ordered_json line{{"epoch", options_.epoch}, {"ordinal", ordinal}, {"step", step}, {"rank", rank}};
      put_episode(line, episode_, sampler_.spec().unlabelled);
      line["valid"] = row < share.valid;
      if (options_.json) {
        write_json(line);
      } else {
        write_text(line);
      }
    }
  }

  static void write_text(const nlohmann::ordered_json& line) {
    std::string text;
    for (const char* key : {"epoch", "ordinal", "step", "rank", "classes", "label_map", "support", "query", "valid"})
      text += (text.empty() ? "" : "\t") + line[key].dump();
    write_line(text);
  }

  const DumpOptions& options_;
  const FeedSpec& spec_;
  EpisodeSampler sampler_;
  Schedule schedule_;
  Episode episode_;
};

}  // namespace

void dump_episodes(const DumpOptions& options, const FeedSpec& spec, const Scan& scan) {
  if (options.plan)
    throw Error(ErrorKind::kUsage,
                "--plan lists the random choices of samples, and this feed has episodes: leave it out");
  demand_same_data(*spec.episodes, dataset_digest(scan), spec.data);
  EpisodeDump(options, spec, scan).write();
}

}  // namespace feedring::cli
