// SPDX-License-Identifier: Apache-2.0
// `feedring plan`: memory and steps, before anything starts.
#include <fmt/format.h>

#include <feedring/error.hpp>
#include <memory>

#include "producers/cli/commands.hpp"
#include "producers/cli/episode_options.hpp"
#include "producers/cli/feed_choice.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/pool_options.hpp"
#include "producers/cli/run.hpp"
#include "producers/pool/memory_plan.hpp"
#include "producers/pool/node_feed.hpp"
#include "producers/pool/pinned_plan.hpp"
#include "producers/pool/placement.hpp"
#include "runtime/huge_pages.hpp"
#include "runtime/memory_limits.hpp"
#include "runtime/schedule.hpp"

namespace feedring::cli {
namespace {

nlohmann::ordered_json rank_nodes(const Placement& placement, std::uint32_t ranks) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto node = placement.node_of_rank(rank);
    nodes.push_back(node ? nlohmann::ordered_json(*node) : nlohmann::ordered_json(nullptr));
  }
  return nodes;
}

}  // namespace

void add_plan(CLI::App& app, Exit& exit) {
  struct Arguments {
    FeedChoice choice;
    EpisodeOptions episodes;
    PoolOverrides overrides;
    std::uint32_t world = 0;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("plan", "Shows memory and steps of a pool before anything starts.");
  command->footer(
      "  feedring plan -c feed.toml --ranks 8 --world 64\n"
      "  feedring plan photos/ --json");
  add_feed_options(*command, arguments->choice);
  add_cache_option(*command, arguments->choice);
  add_episode_options(*command, arguments->episodes);
  add_pool_options(*command, arguments->overrides);
  command->add_option("--world", arguments->world, "Ranks of all nodes (default: the local ranks)");
  command->add_flag("--json", arguments->json, "One JSON object");
  command->callback([arguments, &exit] {
    ChosenFeed chosen = resolve_feed(arguments->choice);
    arguments->episodes.apply(chosen.spec(), false);
    const Config& config = chosen.config;
    const std::uint32_t ranks = arguments->overrides.ranks.value_or(config.pool.ranks.value_or(1));
    const std::uint32_t world = arguments->world != 0 ? arguments->world : ranks;
    if (world < ranks) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--world {} is less than the {} ranks of this node alone; --world counts "
                              "the ranks of all nodes",
                              world, ranks));
    }
    const std::vector<NodeFeed> feeds = open_feeds(config);
    const MemoryPlan memory = plan_start(feeds, config.pool, ranks, producers_of(config, arguments->overrides));
    nlohmann::ordered_json steps = nlohmann::ordered_json::array();
    for (const NodeFeed& feed : feeds) {
      const Schedule schedule(feed.ordinals, feed.spec.shard == Shard::kNone ? 1 : world, feed.spec.batch_size,
                              feed.spec.remainder);
      schedule.demand_steps();
      steps.push_back({{"feed", feed.spec.name},
                       {"samples", feed.index.size()},
                       {"classes", feed.index.classes()},
                       {"batch_size", feed.spec.batch_size},
                       {"world", world},
                       {"steps", schedule.steps()},
                       {"left_out", schedule.left_out()},
                       {"repeats", schedule.repeats()},
                       {"dataset_digest", feed.index.digest()}});
      if (feed.spec.episodes) steps.back()["episodes"] = feed.ordinals;
      if (feed.spec.samples_per_epoch) steps.back()["samples_per_epoch"] = feed.ordinals;
    }
    const PinnedPlan pinned = plan_pinned(memory);
    const MemoryHeadroom room = memory_headroom();
    const Placement placement;
    const std::optional<std::string> why_not = misfit(memory, config.pool.memory_limit);
    exit.code = 0;
    if (arguments->json) {
      write_json({{"steps", steps},
                  {"memory", nlohmann::ordered_json(to_json(memory))},
                  {"fits", !why_not},
                  {"pinned", nlohmann::ordered_json(to_json(pinned))},
                  {"free_bytes", room.bytes},
                  {"free_by", room.limit},
                  {"pages", describe_huge_pages()},
                  {"rank_nodes", rank_nodes(placement, ranks)},
                  {"placement", placement.describe(ranks)}});
    } else {
      for (const auto& feed : steps) {
        const auto number = [&](const char* key) { return feed[key].get<std::uint64_t>(); };
        write_line(fmt::format(
            "feed {}: {}{} samples in {} classes, {} steps an epoch on {} rank(s) of batch {}{}{}",
            feed["feed"].get<std::string>(),
            feed.contains("episodes") ? fmt::format("{} episodes of ", number("episodes")) : "", number("samples"),
            number("classes"), number("steps"), world, number("batch_size"),
            number("left_out") == 0 ? "" : fmt::format(", {} left out", number("left_out")),
            number("repeats") == 0 ? "" : fmt::format(", {} rows of the last step repeated", number("repeats"))));
      }
      std::string text = to_text(memory);
      text.pop_back();
      write_line(text);
      write_line(to_text(pinned));
      write_line(fmt::format("free: {} by {}", human_bytes(room.bytes), room.limit));
      write_line("pages: " + describe_huge_pages());
      write_line("placement: " + placement.describe(ranks));
    }
    if (why_not) throw Error(ErrorKind::kMemory, *why_not);
  });
}

}  // namespace feedring::cli
