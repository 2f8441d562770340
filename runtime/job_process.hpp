// SPDX-License-Identifier: Apache-2.0
// Whose end is that of a rank's job: after it nobody comes back to what the ranks share.
#pragma once

#include <sys/types.h>

#include "runtime/launch_env.hpp"

namespace feedring {

/// The launcher of this process: its nearest ancestor that was not itself started as this rank, so that scripts around
/// a rank are none. This process where nothing launched it, or what did has left it behind (a variable that somebody
/// set by hand is no launcher once its shell has gone).
[[nodiscard]] pid_t job_process(const Launch& launch);

}  // namespace feedring
