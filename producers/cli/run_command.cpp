// SPDX-License-Identifier: Apache-2.0
// `feedring run`, as the command line says it.
#include <memory>

#include "producers/cli/commands.hpp"
#include "producers/cli/feed_choice.hpp"
#include "producers/cli/pool_options.hpp"
#include "producers/cli/run.hpp"

namespace feedring::cli {

void add_run(CLI::App& app, Exit& exit) {
  struct Arguments {
    FeedChoice choice;
    RunOptions options;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "Runs a command with a pool of producers beside it.");
  command->footer(
      "  feedring run -c feed.toml -- torchrun --nproc-per-node 8 train.py\n"
      "  feedring run -c feed.toml --nproc-per-node 2 -- ./train    two copies with torchrun's variables\n"
      "  feedring run --data photos/ -- ./train                     a plain folder as feed \"train\"");
  command->add_option("-c,--config", arguments->choice.config, "Configuration file");
  command->add_option("--data", arguments->choice.data, "A plain folder instead of a configuration");
  add_data_options(*command, arguments->choice);
  add_cache_option(*command, arguments->choice);
  command
      ->add_option("--nproc-per-node", arguments->options.copies,
                   "Start the command this often, with RANK, LOCAL_RANK, WORLD_SIZE …; the first failure ends all")
      ->check(CLI::Range(1U, 1024U));
  add_pool_options(*command, arguments->options.overrides);
  command->add_option("command", arguments->options.command, "The command and its arguments, after --")->required();
  command->positionals_at_end();
  command->callback([arguments, &exit] {
    arguments->options.config = resolve_feed(arguments->choice).config;
    if (!arguments->choice.config.empty())
      arguments->options.config_file = std::filesystem::absolute(arguments->choice.config).string();
    exit.code = run(arguments->options);
  });
}

}  // namespace feedring::cli
