// SPDX-License-Identifier: Apache-2.0
#include "consumers/demo/options.hpp"

#include <CLI/CLI.hpp>

#include "feedring/error.hpp"

namespace feedring::demo {

std::optional<Options> parse_options(int argc, char** argv, int& exit_status) {
  Options options;
  CLI::App app(
      "Trains a small classifier on batches from feedring. Start it by: feedring run -c FILE "
      "--nproc-per-node 2 -- feedring-demo");
  app.add_option("--train", options.train, "feed to train on")->capture_default_str();
  app.add_option("--val", options.val, "feed to measure accuracy on after each epoch (default: none)");
  app.add_option("--epochs", options.epochs)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "stop training after this long")->capture_default_str();
  app.add_option("--learning-rate", options.learning_rate)->capture_default_str()->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_status = app.exit(error) == 0 ? 0 : exit_code(ErrorKind::kUsage);
    return std::nullopt;
  }
  return options;
}

}  // namespace feedring::demo
