// SPDX-License-Identifier: Apache-2.0
// `feedring run`: a pool for as long as the launched command lives.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "producers/config/feed_spec.hpp"

namespace feedring::cli {

/// What every command that starts a pool may say about it; wins over the configuration.
struct PoolOverrides {
  std::optional<std::uint32_t> producers;
  std::optional<std::uint32_t> ranks;
};

/// Producers of a pool: what was asked for, else the granted cores.
[[nodiscard]] std::uint32_t producers_of(const Config& config, const PoolOverrides& overrides);

struct RunOptions {
  Config config;
  std::string config_file;  ///< for FEEDRING_CONFIG; empty for a plain folder
  PoolOverrides overrides;
  std::optional<std::uint32_t> copies;  ///< --nproc-per-node
  std::vector<std::string> command;
};

/// Returns the launcher's own exit code (128 + n for a signal). Throws Error.
[[nodiscard]] int run(const RunOptions& options);

struct StartOptions {
  Config config;
  PoolOverrides overrides;
  std::string address;                   ///< empty: named after the job, as ranks will look for it
  std::optional<std::uint32_t> grace_s;  ///< set: ends by itself this long after the last rank has gone
  int job_fd = -1;                       ///< a pidfd: with `grace_s`, the pool ends with that process and all ranks
};

/// `feedring start --foreground`: a pool until `feedring stop`, a signal, or the grace ran out. `on_ready(address)` is
/// called once ranks can attach. Returns 0, also where a pool with this address ran already.
[[nodiscard]] int serve(const StartOptions& options, const std::function<void(const std::string&)>& on_ready);

}  // namespace feedring::cli
