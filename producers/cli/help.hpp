// SPDX-License-Identifier: Apache-2.0
// `--help`: what the command does, then examples, then the options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace feedring::cli {

inline constexpr const char* kExamples =
    "  feedring bench photos/                             how fast do batches arrive?\n"
    "  feedring run -c feed.toml -- torchrun … train.py   train, with a pool of producers beside it\n"
    "  feedring check photos/                             is every file fine?\n"
    "  feedring dump photos/ --world 2 --json             which sample goes where?\n"
    "  feedring decode a.jpg --size 224 -o a.ppm          what does training see?";

/// The footer of a command holds its examples; it stands first. The exit codes end the help of `feedring` itself.
class ExamplesFirst : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    std::string text = app->get_description() + '\n';
    if (!app->get_footer().empty()) text += "\nExamples:\n" + app->get_footer() + "\n\n";
    return text;
  }
  std::string make_footer(const CLI::App* app) const override {
    if (app->get_parent() != nullptr) return "";
    return "Exit codes: 0 ok, 1 findings, 2 usage or configuration, 3 data, 70 internal, 71 not enough memory,\n"
           "72 pool or peer died, 73 deadline, 74 refused. `run` returns the launcher's own code.\n";
  }
};

}  // namespace feedring::cli
