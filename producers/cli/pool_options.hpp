// SPDX-License-Identifier: Apache-2.0
// Options that the commands around a pool share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "producers/cli/run.hpp"

namespace feedring::cli {

/// --producers and --ranks. `overrides` outlives the command.
void add_pool_options(CLI::App& command, PoolOverrides& overrides);

/// --pool ADDRESS, else FEEDRING_POOL. `address` outlives the command.
void add_pool_address(CLI::App& command, std::string& address);

/// The address that was given. Throws Error(kUsage) where none was.
[[nodiscard]] std::string address_of(const std::string& given);

}  // namespace feedring::cli
