// SPDX-License-Identifier: Apache-2.0
// How much, and with which chance. FEEDRING_STRESS_SEED repeats a run's choices (not its timing);
// FEEDRING_STRESS_SCALE = 10 makes every test ten times as long.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace feedring::stress {

inline std::uint64_t seed_of_this_run() {
  const char* given = std::getenv("FEEDRING_STRESS_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("FEEDRING_STRESS_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

inline std::uint64_t scaled(std::uint64_t batches) {
  const char* scale = std::getenv("FEEDRING_STRESS_SCALE");
  return scale != nullptr ? static_cast<std::uint64_t>(static_cast<double>(batches) * std::atof(scale)) : batches;
}

}  // namespace feedring::stress
