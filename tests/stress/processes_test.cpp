// SPDX-License-Identifier: Apache-2.0
// Storms (storm.hpp) that look for one fault each.
#include <gtest/gtest.h>

#include "tests/stress/storm.hpp"

namespace feedring::stress {
namespace {

contract::RingShape shape(std::uint32_t slots, std::uint32_t tasks) {
  return lay_out_ring(slots, tasks, 6, {{"cells", Dtype::kInt64, {16}, {}}});
}

/// Without seeks an owner's place counts every sequence from 0 on: each was delivered once, in order.
void expect_all_delivered(const Supervisor& supervisor, std::uint64_t batches) {
  EXPECT_EQ(supervisor.verdict(), "");
  for (std::uint32_t r = 0; r < supervisor.rings(); ++r) {
    if (!supervisor.cut_short) {
      EXPECT_EQ(supervisor.delivered(r), batches);
    }
    EXPECT_EQ(supervisor.place(r).next, supervisor.delivered(r));
    EXPECT_GT(supervisor.delivered(r), 20U);
  }
}

void kill_producers(std::uint64_t batches, const contract::RingShape& ring) {
  Supervisor supervisor({.batches = batches, .kill_producer_one_in = 3}, ring);
  supervisor.run();
  expect_all_delivered(supervisor, batches);
  std::printf("%llu producers killed, %llu of their tasks repaired\n",
              static_cast<unsigned long long>(supervisor.producers_killed),
              static_cast<unsigned long long>(supervisor.tasks_swept));
  EXPECT_GT(supervisor.tasks_swept, 0U) << "or the test shows nothing";
}

TEST(Processes, DeliverEveryBatchOnceThoughProducersAreKilled) { kill_producers(scaled(30'000), shape(3, 4)); }

// Nobody else's work hides a wake-up that died with its producer.
TEST(Processes, DeliverEveryBatchOnceThoughProducersAreKilledWithOneSlot) {
  kill_producers(scaled(15'000), shape(1, 2));
}

TEST(Processes, DeliverEveryBatchOnceThoughAnybodyIsStoppedForAWhile) {
  const std::uint64_t batches = scaled(25'000);
  Supervisor supervisor({.batches = batches, .stop_one_in = 3}, shape(2, 3));
  supervisor.run();
  expect_all_delivered(supervisor, batches);
  std::printf("%llu stops\n", static_cast<unsigned long long>(supervisor.stops));
  EXPECT_GT(supervisor.stops, 10U);
}

TEST(Processes, DeliverEveryBatchOnceThoughOwnersAndProducersAreKilledAndSeek) {
  const std::uint64_t batches = scaled(25'000);
  Supervisor supervisor(
      {.batches = batches, .seek_one_in = 8, .kill_producer_one_in = 8, .kill_owner_one_in = 6, .stop_one_in = 16},
      shape(4, 2));
  supervisor.run();
  EXPECT_EQ(supervisor.verdict(), "");
  std::printf("%llu producers and %llu owners killed, %llu tasks repaired, %llu stops\n",
              static_cast<unsigned long long>(supervisor.producers_killed),
              static_cast<unsigned long long>(supervisor.owners_killed),
              static_cast<unsigned long long>(supervisor.tasks_swept),
              static_cast<unsigned long long>(supervisor.stops));
  for (std::uint32_t r = 0; r < supervisor.rings(); ++r) {
    EXPECT_GT(supervisor.delivered(r) + supervisor.owners_killed, supervisor.cut_short ? 20 : batches - 1);
  }
  EXPECT_GT(supervisor.owners_killed, 5U);
}

}  // namespace
}  // namespace feedring::stress
