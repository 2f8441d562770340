// SPDX-License-Identifier: Apache-2.0
// The commands of `feedring`, one file each. A new one is declared and listed here, and nowhere else.
#pragma once

#include <CLI/CLI.hpp>

namespace feedring::cli {

/// What the program will end with when the command returns; errors are thrown (feedring::Error) instead.
struct Exit {
  int code = 0;
};
inline constexpr int kFindings = 1;  ///< the command worked, and found something wrong

// Each adds its command to `app`. The command runs when the arguments have been parsed; what is given lives as long as
// the program. Data goes to standard output, everything else to standard error.
void add_run(CLI::App& app, Exit& exit);
void add_start(CLI::App& app, Exit& exit);
void add_stop(CLI::App& app, Exit& exit);
void add_status(CLI::App& app, Exit& exit);
void add_plan(CLI::App& app, Exit& exit);
void add_bench(CLI::App& app, Exit& exit);
void add_check(CLI::App& app, Exit& exit);
void add_dump(CLI::App& app, Exit& exit);
void add_episodes(CLI::App& app, Exit& exit);
void add_decode(CLI::App& app, Exit& exit);
void add_import(CLI::App& app, Exit& exit);

/// In the order of `feedring --help`.
inline constexpr void (*kCommands[])(CLI::App&, Exit&) = {add_run,      add_start,  add_stop,  add_status,
                                                          add_plan,     add_bench,  add_check, add_dump,
                                                          add_episodes, add_decode, add_import};

}  // namespace feedring::cli
