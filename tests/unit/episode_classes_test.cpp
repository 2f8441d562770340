// SPDX-License-Identifier: Apache-2.0
// Classes by turns, every set once, by weight, within a superclass, from a mixture.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/episode_support.hpp"

namespace feedring {
namespace {

using namespace test;

EpisodeSpec drawn_by(ClassDraw draw, std::uint32_t ways) {
  EpisodeSpec spec = spec_of(ways, 1, 1);
  spec.classes = draw;
  return spec;
}

TEST(BalancedClasses, AreUsedEquallyOftenOrOnceMoreAndNeverTwiceInAnEpisode) {
  for (std::uint32_t ways = 1; ways <= 7; ++ways)
    for (std::uint32_t classes = ways; classes <= 24; ++classes) {
      if (classes % ways != 0 && classes < 2 * ways) continue;
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        EpisodeSampler sampler(drawn_by(ClassDraw::kBalanced, ways), equal_classes(classes, 2), ways);
        std::vector<int> used(classes, 0);
        for (std::uint64_t i = 0; i < 60; ++i) {
          const Episode e = draw_episode(sampler, epoch, i);
          ASSERT_EQ(std::set<std::uint32_t>(e.classes.begin(), e.classes.end()).size(), ways)
              << "C " << classes << " N " << ways << " i " << i;
          for (const std::uint32_t number : e.classes) ++used[number];
          const auto [least, most] = std::minmax_element(used.begin(), used.end());
          ASSERT_LE(*most - *least, 1) << "C " << classes << " N " << ways << " i " << i;
        }
      }
    }
}

TEST(BalancedClasses, DifferByAtMostOneOverAnEpochOfAnyLength) {
  for (const std::uint32_t ways : {2U, 3U, 5U})
    for (std::uint32_t classes = 2 * ways; classes <= 17; ++classes)
      for (std::uint64_t tasks = 1; tasks <= 50; ++tasks) {
        EpisodeSampler sampler(drawn_by(ClassDraw::kBalanced, ways), equal_classes(classes, 2), 3);
        std::vector<int> used(classes, 0);
        for (std::uint64_t i = 0; i < tasks; ++i)
          for (const std::uint32_t number : draw_episode(sampler, 1, i).classes) ++used[number];
        const auto [least, most] = std::minmax_element(used.begin(), used.end());
        ASSERT_LE(*most - *least, 1) << "C " << classes << " N " << ways << " M " << tasks;
      }
}

// C = 5, N = 2: episode 2 takes the last class of one order and the first of the next.
TEST(BalancedClasses, LeaveEveryEpisodeFair) {
  for (const std::uint64_t ordinal : {0, 1, 2, 3, 4}) {
    EpisodeSampler sampler(drawn_by(ClassDraw::kBalanced, 2), equal_classes(5, 2), 4);
    std::map<std::vector<std::uint32_t>, int> seen;
    for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) ++seen[draw_episode(sampler, epoch, ordinal).classes];
    EXPECT_LT(chi_square(seen, 20), chi_square_limit(19)) << ordinal;
  }
}

TEST(EnumeratedClasses, AreEverySetOnceInEachEpochInAnotherOrder) {
  for (std::uint32_t classes = 1; classes <= 9; ++classes)
    for (std::uint32_t ways = 1; ways <= classes; ++ways) {
      EpisodeSampler sampler(drawn_by(ClassDraw::kEnumerate, ways), equal_classes(classes, 2), 5);
      std::set<std::vector<std::set<std::uint32_t>>> orders;
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        std::vector<std::set<std::uint32_t>> order;
        for (std::uint64_t i = 0; i < sampler.tasks_per_epoch(); ++i) {
          const Episode e = draw_episode(sampler, epoch, i);
          order.emplace_back(e.classes.begin(), e.classes.end());
          ASSERT_EQ(order.back().size(), ways);
        }
        orders.insert(order);
        const std::set<std::set<std::uint32_t>> sets(order.begin(), order.end());
        ASSERT_EQ(sets.size(), order.size()) << "a set came twice";
        ASSERT_EQ(Wide{sets.size()}, *count_subsets(classes, ways)) << "a set is missing";
      }
      if (sampler.tasks_per_epoch() > 20) {
        EXPECT_EQ(orders.size(), 3U);
      }
    }
}

TEST(EnumeratedClasses, CountTheSetsOfTheUsualSplits) {
  EpisodeSampler val(drawn_by(ClassDraw::kEnumerate, 5), equal_classes(16, 2), 0);
  EXPECT_EQ(val.tasks_per_epoch(), 4368U);
  EpisodeSampler test(drawn_by(ClassDraw::kEnumerate, 5), equal_classes(20, 2), 0);
  EXPECT_EQ(test.tasks_per_epoch(), 15504U);
}

TEST(EnumeratedClasses, TakeAPartOfMoreSetsThanAnEpochHas) {
  EpisodeSpec spec = drawn_by(ClassDraw::kEnumerate, 10);
  spec.tasks_per_epoch = 500;
  EpisodeSampler sampler(spec, equal_classes(4112, 2), 6);  // 3.8e29 sets
  std::set<std::set<std::uint32_t>> sets;
  double sum = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    sets.emplace(e.classes.begin(), e.classes.end());
    for (const std::uint32_t number : e.classes) sum += number;
  }
  EXPECT_EQ(sets.size(), 500U);
  // The mean of 5000 numbers from 0 to 4111 has a standard deviation of 1187 / sqrt(5000) = 16.8.
  EXPECT_NEAR(sum / 5000, 2055.5, 65);
}

TEST(EnumeratedClasses, ComeInRandomOrderWithinAnEpisode) {
  EpisodeSampler sampler(drawn_by(ClassDraw::kEnumerate, 3), equal_classes(3, 2), 7);
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) ++seen[draw_episode(sampler, epoch, 0).classes];
  EXPECT_LT(chi_square(seen, 6), chi_square_limit(5));
}

// By hand, weights 1, 2, 3, 0: P(2 then 1) = 3/6 * 2/3 = 1/3, P(2, 0) = 1/6, P(1, 2) = 1/4, P(1, 0) = 1/12,
// P(0, 2) = 1/10, P(0, 1) = 1/15. All in sixtieths: 20, 10, 15, 5, 6, 4.
TEST(WeightedClasses, ComeInProportionToTheWeightAmongThoseLeft) {
  EpisodeSpec spec = spec_of(2, 1, 1);
  spec.class_weights = {{"c1", 2.0}, {"c2", 3.0}, {"c3", 0.0}};
  EpisodeSampler sampler(spec, equal_classes(4, 2), 8);
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t i = 0; i < 60000; ++i) ++seen[draw_episode(sampler, 0, i).classes];
  const std::map<std::vector<std::uint32_t>, double> expected{{{2, 1}, 20000}, {{2, 0}, 10000}, {{1, 2}, 15000},
                                                              {{1, 0}, 5000},  {{0, 2}, 6000},  {{0, 1}, 4000}};
  ASSERT_EQ(seen.size(), expected.size());
  double sum = 0;
  for (const auto& [pair, count] : expected) sum += (seen[pair] - count) * (seen[pair] - count) / count;
  EXPECT_LT(sum, chi_square_limit(5));
}

std::vector<SampleClass> named(const std::vector<std::string>& names, std::uint64_t samples) {
  std::vector<SampleClass> classes;
  for (const std::string& name : names) classes.push_back({name, samples * classes.size(), samples});
  return classes;
}

TEST(Superclass, IsTheNameAboveTheLastSlash) {
  EXPECT_EQ(superclass_of("Greek/character01"), "Greek");
  EXPECT_EQ(superclass_of("omniglot/Greek/character01"), "omniglot/Greek");
  EXPECT_EQ(superclass_of("cat"), "");
}

TEST(Superclass, GivesAllClassesOfAnEpisodeAndEachIsAsLikely) {
  EpisodeSpec spec = spec_of(2, 1, 1);
  spec.within_superclass = true;
  // Latin has one class and cannot give two.
  EpisodeSampler sampler(spec, named({"Greek/1", "Korean/1", "Greek/2", "Latin/1", "Korean/2", "Korean/3"}, 2), 9);
  std::map<std::set<std::uint32_t>, int> seen;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    ++seen[{e.classes[0], e.classes[1]}];
  }
  ASSERT_EQ(seen.size(), 4U) << "one pair of Greek, three of Korean";
  EXPECT_NEAR((seen[{0, 2}]), 3000, 150);  // 3.9 standard deviations of 38.7
  for (const auto& pair : {std::set<std::uint32_t>{1, 4}, {1, 5}, {4, 5}}) EXPECT_NEAR(seen[pair], 1000, 113);
}

TEST(Mixture, DrawsADataSetByWeightAndTheEpisodeFromThatAlone) {
  EpisodeSpec spec = spec_of(2, 1, 1);
  spec.mixture = {{"birds/", 3.0}, {"letters/", 1.0}};
  EpisodeSampler sampler(spec, named({"birds/a", "birds/b", "letters/x", "letters/y", "letters/z", "cars/q"}, 2), 10);
  int birds = 0;
  for (std::uint64_t i = 0; i < 8000; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    ASSERT_EQ(e.classes[0] < 2, e.classes[1] < 2);
    ASSERT_TRUE(e.classes[0] < 5 && e.classes[1] < 5);
    birds += e.classes[0] < 2 ? 1 : 0;
  }
  EXPECT_NEAR(birds, 6000, 151);  // 3.9 standard deviations of 38.7
}

TEST(ChosenClasses, AreThoseOfTheList) {
  EpisodeSpec spec = spec_of(2, 1, 1);
  spec.only = {"c4", "c1", "c2"};
  EpisodeSampler sampler(spec, equal_classes(6, 2), 11);
  std::set<std::uint32_t> seen;
  for (std::uint64_t i = 0; i < 200; ++i)
    for (const std::uint32_t number : draw_episode(sampler, 0, i).classes) seen.insert(number);
  EXPECT_EQ(seen, (std::set<std::uint32_t>{1, 2, 4}));
}

}  // namespace
}  // namespace feedring
