// SPDX-License-Identifier: Apache-2.0
// The benchmark behind `feedring bench`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "producers/config/feed_spec.hpp"

namespace feedring::cli {

struct BenchOptions {
  Config config;  ///< with one feed
  std::uint32_t producers = 1;
  std::uint32_t ranks = 1;              ///< processes
  double seconds = 5;                   ///< of the window; not used where epochs is set
  std::optional<std::uint64_t> epochs;  ///< drain so many whole epochs
  std::uint64_t started_ns = 0;         ///< when this program began, CLOCK_MONOTONIC
};

struct BenchResult {
  nlohmann::ordered_json json;  ///< docs/schema/bench.json describes the members
};

/// Starts a pool and ranks, measures, ends them. The window opens after the first batch of every rank. Throws Error.
[[nodiscard]] BenchResult bench(const BenchOptions& options);

}  // namespace feedring::cli
