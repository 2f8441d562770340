// SPDX-License-Identifier: Apache-2.0
// Episodes over ranks: equal steps, every task once, and the same tasks in a step whatever the world size.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runtime/schedule.hpp"
#include "tests/unit/episode_support.hpp"

namespace feedring {
namespace {

using namespace test;
using Task = std::vector<std::vector<std::uint64_t>>;

/// The tasks of each step, over all ranks; each rank has a sampler of its own, as its producers have.
std::vector<std::set<Task>> steps_of(const EpisodeSpec& spec, std::uint32_t world, std::uint32_t batch,
                                     Remainder remainder) {
  std::vector<EpisodeSampler> ranks(world, EpisodeSampler(spec, equal_classes(20, 30), 5));
  const Schedule schedule(ranks[0].tasks_per_epoch(), world, batch, remainder);
  std::vector<std::set<Task>> steps(schedule.steps());
  for (std::uint32_t rank = world; rank-- > 0;) {
    for (std::uint64_t step = 0; step < schedule.steps(); ++step) {
      const Share share = schedule.share(step, rank);
      for (std::uint32_t row = 0; row < share.valid; ++row)
        steps[step].insert(content(draw_episode(ranks[rank], 1, share.first + row)));
    }
  }
  return steps;
}

TEST(EpisodeWorld, HasTheSameTasksInEachStepForEveryWorldSizeWithEqualGlobalBatch) {
  EpisodeSpec balanced = spec_of(3, 1, 2), every = spec_of(3, 1, 2), varied = spec_of(3, 1, 2);
  balanced.classes = ClassDraw::kBalanced;
  every.classes = ClassDraw::kEnumerate;
  varied.ways = {2, 6};
  varied.shots = {1, 4};
  for (EpisodeSpec spec : {spec_of(3, 1, 2), balanced, every, varied})
    for (const std::uint64_t tasks : {8, 16, 100, 101})
      for (const Remainder remainder : {Remainder::kDrop, Remainder::kPad}) {
        spec.tasks_per_epoch = tasks;
        const auto alone = steps_of(spec, 1, 8, remainder);
        EXPECT_EQ(steps_of(spec, 2, 4, remainder), alone);
        EXPECT_EQ(steps_of(spec, 4, 2, remainder), alone);
        EXPECT_EQ(steps_of(spec, 8, 1, remainder), alone);
        std::size_t count = 0;
        for (const auto& step : alone) count += step.size();
        EXPECT_EQ(count, remainder == Remainder::kPad ? tasks : tasks / 8 * 8) << "a task is missing, or came twice";
      }
}

// 600 episodes on 16 ranks of one: 37 whole steps and 8 episodes, for which 8 ranks have one and 8 have padding.
TEST(EpisodeWorld, PadsAnEvaluationWithoutDoublingAnEpisode) {
  const Schedule schedule(600, 16, 1, Remainder::kPad);
  ASSERT_EQ(schedule.steps(), 38U);
  std::multiset<std::uint64_t> valid;
  for (std::uint64_t step = 0; step < 38; ++step)
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      const Share share = schedule.share(step, rank);
      for (std::uint32_t row = 0; row < share.valid; ++row) valid.insert(share.first + row);
    }
  EXPECT_EQ(valid.size(), 600U);
  EXPECT_EQ(std::set<std::uint64_t>(valid.begin(), valid.end()).size(), 600U);
}

// The test matrix: equal step counts, disjoint shares, their union the epoch or the declared part of it.
TEST(EpisodeWorld, CoversTheEpochForTheWholeMatrix) {
  for (const std::uint32_t world : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 16U, 64U})
    for (const std::uint32_t batch : {1U, 2U, 4U}) {
      const std::uint64_t global = std::uint64_t{world} * batch;
      for (const std::uint64_t tasks : {std::uint64_t{1}, std::max<std::uint64_t>(global - 1, 1), global, global + 1,
                                        std::uint64_t{600}, std::uint64_t{1000}})
        for (const Remainder remainder : {Remainder::kDrop, Remainder::kPad}) {
          const Schedule schedule(tasks, world, batch, remainder);
          EXPECT_EQ(schedule.steps(), remainder == Remainder::kPad ? (tasks + global - 1) / global : tasks / global);
          std::vector<int> times(tasks, 0);
          for (std::uint64_t step = 0; step < schedule.steps(); ++step)
            for (std::uint32_t rank = 0; rank < world; ++rank) {
              const Share share = schedule.share(step, rank);
              for (std::uint32_t row = 0; row < share.valid; ++row) ++times.at(share.first + row);
            }
          const std::uint64_t end = remainder == Remainder::kPad ? tasks : tasks / global * global;
          for (std::uint64_t i = 0; i < tasks; ++i) ASSERT_EQ(times[i], i < end ? 1 : 0);
        }
    }
}

}  // namespace
}  // namespace feedring
