// SPDX-License-Identifier: Apache-2.0
// `feedring bench`, as the command line says it.
#include <fmt/format.h>

#include <memory>

#include "producers/cli/bench.hpp"
#include "producers/cli/commands.hpp"
#include "producers/cli/episode_options.hpp"
#include "producers/cli/feed_choice.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/run.hpp"
#include "runtime/contract.hpp"
#include "runtime/futex.hpp"

namespace feedring::cli {
namespace {

// As near to exec as a program can look by itself.
const std::uint64_t kStartedNs = monotonic_ns();

std::string to_text(const nlohmann::ordered_json& json) {
  const std::string episodes = json.contains("episodes_per_s")
                                   ? fmt::format("{:.1f} episodes/s ({})\n", json["episodes_per_s"].get<double>(),
                                                 json["episodes"].get<std::uint64_t>())
                                   : "";
  return episodes +
         fmt::format(
             "{:.0f} images/s ({} images in {:.2f} s, {} producers, {} ranks, batch {})\n"
             "CPU {:.2f} ms an image (producers {:.2f} s, ranks {:.2f} s), ranks waited {:.0f} % of the time\n"
             "first batch {:.0f} ms after attach, {:.0f} ms after start; {} failed samples",
             json["images_per_s"].get<double>(), json["images"].get<std::uint64_t>(), json["seconds"].get<double>(),
             json["producers"].get<std::uint32_t>(), json["ranks"].get<std::uint32_t>(),
             json["batch_size"].get<std::uint32_t>(), json["cpu_ms_per_image"].get<double>(),
             json["cpu_s_producers"].get<double>(), json["cpu_s_ranks"].get<double>(),
             json["wait_share"].get<double>() * 100, json["first_batch_ms"].get<double>(),
             json["cold_first_batch_ms"].get<double>(), json["failed"].get<std::uint64_t>());
}

}  // namespace

void add_bench(CLI::App& app, Exit& exit) {
  struct Arguments {
    FeedChoice choice;
    EpisodeOptions episodes;
    std::optional<std::uint32_t> batch_size;
    std::uint32_t size = 224;
    std::optional<std::uint32_t> producers;
    std::uint32_t ranks = 1;
    double seconds = 5;
    std::optional<std::uint64_t> epochs;
    std::optional<std::uint64_t> seed;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("bench", "Measures how fast batches arrive, with ranks that only drain.");
  command->footer(
      "  feedring bench photos/\n"
      "  feedring bench miniimagenet/train --ways 5 --shots 1 --queries 15 --size 84 --cache decoded\n"
      "  feedring bench -c feed.toml --feed train --ranks 2 --seconds 20 --json");
  add_feed_options(*command, arguments->choice);
  add_cache_option(*command, arguments->choice);
  add_episode_options(*command, arguments->episodes);
  command->add_option("--batch-size", arguments->batch_size, "Per rank (default: the feed's, or 64)")
      ->check(CLI::Range(1U, 1U << 20));
  command->add_option("--size", arguments->size, "Pixels a side, for a plain folder")->check(CLI::Range(1U, 16384U));
  command->add_option("--producers", arguments->producers, "Producer processes (default: the granted cores)")
      ->check(CLI::Range(1U, contract::kMaxProducers));
  command->add_option("--ranks", arguments->ranks, "Rank processes")->check(CLI::Range(1U, 1024U));
  CLI::Option* seconds =
      command->add_option("--seconds", arguments->seconds, "Length of the window")->check(CLI::PositiveNumber);
  command->add_option("--epochs", arguments->epochs, "Whole epochs instead of a time")
      ->check(CLI::PositiveNumber)
      ->excludes(seconds);
  command->add_option("--seed", arguments->seed, "Seed of the plan");
  command->add_flag("--json", arguments->json, "One JSON object");
  command->callback([arguments, &exit] {
    ChosenFeed chosen = resolve_feed(arguments->choice, arguments->size);
    BenchOptions options;
    // One feed only: others would take memory and are not drained. Class numbers of another feed do not change speed,
    // but they are part of the digest, so that one is kept.
    FeedSpec spec = chosen.spec();
    if (arguments->batch_size) spec.batch_size = *arguments->batch_size;
    if (arguments->seed) spec.seed = *arguments->seed;
    arguments->episodes.apply(spec, arguments->batch_size.has_value());
    options.config.pool = chosen.config.pool;
    options.config.feeds.push_back(spec);
    if (spec.classes_from) {
      for (const FeedSpec& other : chosen.config.feeds)
        if (other.name == *spec.classes_from) options.config.feeds.push_back(other);
    }
    PoolOverrides overrides;
    overrides.producers = arguments->producers;
    options.producers = producers_of(options.config, overrides);
    options.ranks = arguments->ranks;
    options.seconds = arguments->seconds;
    options.epochs = arguments->epochs;
    options.started_ns = kStartedNs;
    const BenchResult result = bench(options);
    if (arguments->json) {
      write_json(result.json);
    } else {
      write_line(to_text(result.json));
    }
    exit.code = 0;
  });
}

}  // namespace feedring::cli
