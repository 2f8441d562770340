// SPDX-License-Identifier: Apache-2.0
// The command `feedring`: arguments in, one sentence and an exit code out where something is wrong.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <feedring/error.hpp>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "producers/cli/commands.hpp"
#include "producers/cli/help.hpp"
#include "producers/cli/output.hpp"
#include "producers/config/suggest.hpp"

namespace feedring::cli {
namespace {

void complain(std::string_view sentence) {
  const std::string line = "feedring: " + printable(sentence) + '\n';
  std::fputs(line.c_str(), stderr);
}

/// Libraries log through spdlog, whose default would be standard output, where the data goes.
void log_to_stderr() {
  auto logger = std::make_shared<spdlog::logger>("feedring", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("feedring: %v");
  logger->set_level(spdlog::level::info);
  if (const char* level = std::getenv("FEEDRING_LOG"); level != nullptr && *level != '\0') {
    const spdlog::level::level_enum chosen = spdlog::level::from_str(level);
    if (chosen == spdlog::level::off && std::string_view(level) != "off") {
      throw Error(ErrorKind::kUsage, "FEEDRING_LOG=\"" + std::string(level) +
                                         "\" is none of trace, debug, info, warn, error, critical and off");
    }
    logger->set_level(chosen);
  }
  spdlog::set_default_logger(logger);
}

/// The first option that the command does not have, with the one that was probably meant; empty: it has all.
std::string unknown_option(const CLI::App& command) {
  for (const std::string& word : command.remaining()) {
    if (word == "--") break;  // no options behind it
    if (word.size() < 2 || word.front() != '-') continue;
    const std::string option = word.substr(0, word.find('='));
    std::vector<std::string> names;
    for (const CLI::Option* known : command.get_options()) {
      if (!known->get_group().empty())
        names.insert(names.end(), known->get_lnames().begin(), known->get_lnames().end());
    }
    std::string text = "unknown option " + option;
    if (!option.starts_with("--")) return text;
    const std::string_view meant =
        nearest(std::string_view(option).substr(2), std::vector<std::string_view>(names.begin(), names.end()));
    if (!meant.empty()) text.append("; did you mean --").append(meant).append("?");
    return text;
  }
  return "";
}

/// CLI11's own sentences, with the command or option that was probably meant.
std::string sentence_of(const CLI::ParseError& error, const CLI::App& app, const std::vector<std::string>& arguments) {
  std::string text = error.what();
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  const std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (app.get_subcommands().empty() && !arguments.empty() && !arguments.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands) names.push_back(command->get_name());
    return "there is no command \"" + arguments.front() + '"' +
           did_you_mean(arguments.front(), std::vector<std::string_view>(names.begin(), names.end()));
  }
  if (app.get_subcommands().empty() && arguments.empty()) return "no command is given: see feedring --help";
  const CLI::App* command = &app;
  std::string called = "feedring";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    called += ' ' + command->get_name();
  }
  if (std::string unknown = unknown_option(*command); !unknown.empty()) text = std::move(unknown);
  return text + " (see " + called + " --help)";
}

int run(int argc, char** argv) {
  log_to_stderr();
  CLI::App app("feedring feeds distributed training with images.", "feedring");
  app.formatter(std::make_shared<ExamplesFirst>());
  app.set_version_flag("--version", "feedring " FEEDRING_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);
  Exit exit;
  for (const auto add : kCommands) add(app, exit);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    complain(sentence_of(error, app, std::vector<std::string>(argv + std::min(argc, 1), argv + argc)));
    return exit_code(ErrorKind::kUsage);
  }
  finish_output();
  return exit.code;
}

}  // namespace
}  // namespace feedring::cli

int main(int argc, char** argv) {
  using feedring::cli::complain;
  // Ignored by our caller, it would let the kernel bury our children, and their exit codes with them.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    return feedring::cli::run(argc, argv);
  } catch (const feedring::Error& error) {
    complain(error.what());
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    complain("there is not enough memory to go on");
    return exit_code(feedring::ErrorKind::kMemory);
  } catch (const std::exception& error) {
    complain(std::string("a promise was broken that should hold: ") + error.what());
    return exit_code(feedring::ErrorKind::kInternal);
  }
}
