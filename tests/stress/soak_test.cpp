// SPDX-License-Identifier: Apache-2.0
// The storm that lasts: everything at once, on more processes than any machine has cores.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/stress/storm.hpp"

namespace feedring::stress {
namespace {

void soak(std::uint64_t slots, std::uint64_t time_limit_ns) {
  const std::uint64_t batches = slots / kMaxRings;
  Supervisor supervisor({.batches = batches,
                         .rings = kMaxRings,
                         .producers = 16,
                         .time_limit_ns = time_limit_ns,
                         .seek_one_in = 64,
                         .kill_producer_one_in = 8,
                         .kill_owner_one_in = 32,
                         .stop_one_in = 8},
                        lay_out_ring(4, 4, 6, {{"cells", Dtype::kInt64, {16}, {}}}));
  supervisor.run();
  EXPECT_EQ(supervisor.verdict(), "");
  std::uint64_t delivered = 0;
  for (std::uint32_t r = 0; r < kMaxRings; ++r) {
    EXPECT_GT(supervisor.delivered(r) + supervisor.owners_killed, supervisor.cut_short ? 20 : batches - 1);
    delivered += supervisor.delivered(r);
  }
  std::printf("%llu slots delivered; %llu producers and %llu owners killed, %llu tasks repaired, %llu stops\n",
              static_cast<unsigned long long>(delivered), static_cast<unsigned long long>(supervisor.producers_killed),
              static_cast<unsigned long long>(supervisor.owners_killed),
              static_cast<unsigned long long>(supervisor.tasks_swept),
              static_cast<unsigned long long>(supervisor.stops));
  EXPECT_GT(supervisor.owners_killed, 5U);
  EXPECT_GT(supervisor.tasks_swept, 0U);
}

constexpr std::uint64_t kSecond = 1'000'000'000;

// A million slots, or what a minute (FEEDRING_SOAK_SECONDS; ./dev test soak gives it an hour) lets through.
TEST(Soak, DeliversEveryBatchOnce) {
  const char* seconds = std::getenv("FEEDRING_SOAK_SECONDS");
  soak(1'000'000, (seconds != nullptr ? std::strtoull(seconds, nullptr, 10) : 60) * kSecond);
}

}  // namespace
}  // namespace feedring::stress
