// SPDX-License-Identifier: Apache-2.0
// What ranks would pin beside what may be locked. The numbers are by hand.
#include "producers/pool/pinned_plan.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

namespace feedring {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

MemoryPlan three_ranks_of_two_feeds() {
  MemoryPlan memory;
  memory.ranks = 3;
  memory.feeds = {{"train", 3 << 20, 100, 4, 8}, {"val", 1 << 20, 100, 4, 8}};
  return memory;
}

TEST(PinnedPlan, AddsTheRingsOfARankAndOfTheNode) {
  const PinnedPlan plan = plan_pinned(three_ranks_of_two_feeds(), {});
  EXPECT_EQ(plan.rank_bytes, 4U << 20);
  EXPECT_EQ(plan.node_bytes, 12U << 20);
  EXPECT_THAT(to_text(plan), HasSubstr("4.0 MiB a rank, 12.0 MiB on this node; limit of locked memory: unlimited"));
  EXPECT_EQ(to_json(plan)["locked_limit_bytes"], nullptr);
}

TEST(PinnedPlan, ComparesARankWithTheLimitBecauseItIsOneProcess) {
  const MemoryPlan memory = three_ranks_of_two_feeds();
  EXPECT_THAT(plan_pinned(memory, {.limit = 4 << 20}).note(), IsEmpty());
  EXPECT_THAT(plan_pinned(memory, {.limit = (4 << 20) - 1}).note(), Not(IsEmpty()));
  EXPECT_THAT(plan_pinned(memory, {.limit = 2 << 20}).note(), HasSubstr("(4.0 MiB > 2.0 MiB)"));
}

TEST(PinnedPlan, SaysNothingToWhomTheLimitDoesNotApply) {
  const MemoryPlan memory = three_ranks_of_two_feeds();
  const PinnedPlan exempt = plan_pinned(memory, {.limit = 0, .exempt = true});
  EXPECT_THAT(exempt.note(), IsEmpty());
  EXPECT_THAT(to_text(exempt), HasSubstr("CAP_IPC_LOCK"));
}

TEST(PinnedPlan, ReadsTheSoftLimitOfThisProcess) {
  rlimit now{};
  ASSERT_EQ(::getrlimit(RLIMIT_MEMLOCK, &now), 0);
  const rlimit low{4096, now.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &low), 0);
  EXPECT_EQ(locked_memory().limit, 4096U);
  EXPECT_EQ(::setrlimit(RLIMIT_MEMLOCK, &now), 0);
}

}  // namespace
}  // namespace feedring
