// SPDX-License-Identifier: Apache-2.0
// `feedring start` without --foreground.
#pragma once

#include <string>
#include <vector>

namespace feedring::cli {

/// Starts `feedring start --foreground` with these arguments in a session of its own, waits until it serves, and prints
/// where, so that a script's next line may start the training. Returns the exit code: what it ended with where it did
/// not come to serve. Throws Error(kInternal).
[[nodiscard]] int start_in_background(const std::vector<std::string>& arguments);

}  // namespace feedring::cli
