// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/pool_options.hpp"

#include <cstdlib>
#include <feedring/error.hpp>

#include "runtime/contract.hpp"

namespace feedring::cli {

void add_pool_options(CLI::App& command, PoolOverrides& overrides) {
  command
      .add_option("--producers", overrides.producers, "Producer processes on this node (default: the granted cores)")
      ->check(CLI::Range(1U, contract::kMaxProducers));
  command.add_option("--ranks", overrides.ranks, "Local ranks (default: asked when the first one attaches)")
      ->check(CLI::Range(1U, 1024U));
}

void add_pool_address(CLI::App& command, std::string& address) {
  command.add_option("--pool", address, "Address of the pool (default: the environment's FEEDRING_POOL)");
}

std::string address_of(const std::string& given) {
  if (!given.empty()) return given;
  const char* set = std::getenv("FEEDRING_POOL");
  if (set == nullptr || *set == '\0') {
    throw Error(ErrorKind::kUsage,
                "no pool was named: give --pool ADDRESS or set FEEDRING_POOL, as `feedring start` prints it");
  }
  return set;
}

}  // namespace feedring::cli
