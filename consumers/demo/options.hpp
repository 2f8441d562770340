// SPDX-License-Identifier: Apache-2.0
// The demo trainer's command line.
#pragma once

#include <optional>
#include <string>

namespace feedring::demo {

struct Options {
  std::string train = "train";  ///< name of the feed to train on
  std::string val;              ///< name of the feed to measure on after each epoch; empty: none
  int epochs = 6;
  double seconds = 90;          ///< training ends after the step that passes this, on all ranks at once
  double learning_rate = 3e-3;  ///< the peak: it rises over the first tenth of the steps and falls to nothing
};

/// The options, or the exit status that the command should end with at once (--help, a wrong argument).
std::optional<Options> parse_options(int argc, char** argv, int& exit_status);

}  // namespace feedring::demo
