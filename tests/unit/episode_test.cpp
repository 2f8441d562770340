// SPDX-License-Identifier: Apache-2.0
// What every episode holds, and that its parts are drawn fairly. Seeds are fixed; limits are quantiles at p = 0.0001.
#include "producers/plan/episode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/unit/episode_support.hpp"

namespace feedring {
namespace {

using namespace test;

// Expected values: the recipe of docs/episodes.md written in Python.
TEST(Episode, IsTheDocumentedOne) {
  EpisodeSampler sampler(spec_of(5, 1, 2), equal_classes(64, 600), 0);
  const Episode e = draw_episode(sampler, 0, 0);
  EXPECT_EQ(e.classes, (std::vector<std::uint32_t>{23, 19, 57, 34, 37}));
  EXPECT_EQ(e.labels, (std::vector<std::uint32_t>{0, 4, 2, 3, 1}));
  EXPECT_EQ(e.support, (std::vector<std::uint64_t>{13808, 11911, 34562, 20774, 22754}));
  EXPECT_EQ(e.query,
            (std::vector<std::uint64_t>{13803, 14066, 11466, 11992, 34326, 34416, 20598, 20674, 22701, 22536}));
  EpisodeSampler other(spec_of(3, 2, 2), equal_classes(64, 600), 42);
  const Episode f = draw_episode(other, 3, 1000003);
  EXPECT_EQ(f.classes, (std::vector<std::uint32_t>{8, 22, 39}));
  EXPECT_EQ(f.labels, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(f.support, (std::vector<std::uint64_t>{5061, 5044, 13554, 13719, 23579, 23467}));
  EXPECT_EQ(f.query, (std::vector<std::uint64_t>{5365, 4918, 13673, 13611, 23590, 23573}));
}

TEST(Episode, HasDistinctClassesAndDisjointSetsOfTheirSamples) {
  const std::vector<SampleClass> classes = classes_of({7, 30, 7, 100, 8, 9, 70000, 12});
  EpisodeSampler sampler(spec_of(5, 2, 5), classes, 1);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Episode e = draw_episode(sampler, i % 3, i);
    ASSERT_EQ(std::set<std::uint32_t>(e.classes.begin(), e.classes.end()).size(), 5U);
    ASSERT_EQ(std::set<std::uint32_t>(e.labels.begin(), e.labels.end()), (std::set<std::uint32_t>{0, 1, 2, 3, 4}));
    ASSERT_EQ(e.support.size(), 10U);
    ASSERT_EQ(e.query.size(), 25U);
    std::set<std::uint64_t> all(e.support.begin(), e.support.end());
    all.insert(e.query.begin(), e.query.end());
    ASSERT_EQ(all.size(), 35U) << "a sample twice";
    for (std::size_t row = 0; row < 35; ++row) {
      const SampleClass& of = classes[e.classes[row < 10 ? row / 2 : (row - 10) / 5]];
      const std::uint64_t sample = row < 10 ? e.support[row] : e.query[row - 10];
      ASSERT_TRUE(sample >= of.begin && sample < of.begin + of.count) << "row " << row;
    }
  }
}

TEST(Episode, DrawsEveryOrderedChoiceOfClassesEquallyOften) {
  EpisodeSampler sampler(spec_of(3, 1, 1), equal_classes(6, 4), 2);
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t i = 0; i < 24000; ++i) ++seen[draw_episode(sampler, 0, i).classes];
  EXPECT_LT(chi_square(seen, 6 * 5 * 4), chi_square_limit(119));
}

TEST(Episode, DrawsEveryOrderedChoiceOfSamplesEquallyOftenAndTheSetsAlike) {
  EpisodeSampler sampler(spec_of(2, 1, 2), equal_classes(3, 5), 3);
  std::map<std::vector<std::uint64_t>, int> first, second;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> both;
  for (std::uint64_t i = 0; i < 18000; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    ++first[{e.support[0] % 5, e.query[0] % 5, e.query[1] % 5}];
    ++second[{e.support[1] % 5, e.query[2] % 5, e.query[3] % 5}];
    ++both[{e.support[0] % 5, e.support[1] % 5}];
  }
  EXPECT_LT(chi_square(first, 60), chi_square_limit(59));
  EXPECT_LT(chi_square(second, 60), chi_square_limit(59));
  EXPECT_LT(chi_square(both, 25), chi_square_limit(24)) << "one class's samples depend on another's";
}

TEST(Episode, DrawsEveryLabelMapEquallyOftenWhateverTheClassesAre) {
  EpisodeSampler sampler(spec_of(3, 1, 1), equal_classes(3, 2), 4);
  std::map<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>, int> seen;
  for (std::uint64_t i = 0; i < 18000; ++i) {
    const Episode e = draw_episode(sampler, 1, i);
    ++seen[{e.classes, e.labels}];
  }
  EXPECT_LT(chi_square(seen, 36), chi_square_limit(35));
}

TEST(Episode, CanLabelByRankOrByPlace) {
  EpisodeSpec spec = spec_of(4, 1, 1);
  spec.labels = LabelMap::kIdentity;
  EpisodeSampler by_place(spec, equal_classes(9, 2), 5);
  spec.labels = LabelMap::kSorted;
  EpisodeSampler by_rank(spec, equal_classes(9, 2), 5);
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(draw_episode(by_place, 0, i).labels, (std::vector<std::uint32_t>{0, 1, 2, 3}));
    const Episode e = draw_episode(by_rank, 0, i);
    std::vector<std::uint32_t> sorted(4);
    for (std::size_t j = 0; j < 4; ++j) sorted[e.labels[j]] = e.classes[j];
    EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  }
}

TEST(Episode, IsTheSameInWhateverOrderEpisodesAreAskedFor) {
  EpisodeSpec balanced = spec_of(3, 2, 2), every = spec_of(3, 2, 2), varied = spec_of(3, 2, 2);
  balanced.classes = ClassDraw::kBalanced;
  every.classes = ClassDraw::kEnumerate;
  every.tasks_per_epoch = 80;
  varied.ways = {2, 5};
  varied.query_split = QuerySplit::kUniform;
  for (const EpisodeSpec& spec : {spec_of(3, 2, 2), balanced, every, varied}) {
    EpisodeSampler forth(spec, equal_classes(10, 12), 6);
    std::vector<std::vector<std::vector<std::uint64_t>>> sequence;
    for (std::uint64_t i = 0; i < 80; ++i) sequence.push_back(content(draw_episode(forth, 2, i)));
    EpisodeSampler back(spec, equal_classes(10, 12), 6);
    for (std::uint64_t i = 80; i-- > 0;) {
      const std::uint64_t ordinal = i * 37 % 80;
      static_cast<void>(draw_episode(back, 1, i));  // another epoch in between
      ASSERT_EQ(content(draw_episode(back, 2, ordinal)), sequence[ordinal]);
    }
  }
}

TEST(Episode, NeverComesBackInAnotherEpochOrUnderANeighbouringSeed) {
  std::set<std::vector<std::vector<std::uint64_t>>> seen;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    EpisodeSampler sampler(spec_of(5, 1, 5), equal_classes(64, 600), seed);
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch)
      for (std::uint64_t i = 0; i < 50; ++i) seen.insert(content(draw_episode(sampler, epoch, i)));
  }
  EXPECT_EQ(seen.size(), 800U);
}

TEST(Episode, StaysWhereItIsFixed) {
  EpisodeSpec spec = spec_of(5, 1, 5);
  EpisodeSampler free(spec, equal_classes(64, 600), 7);
  spec.fixed = true;
  EpisodeSampler fixed(spec, equal_classes(64, 600), 7);
  for (const std::uint64_t epoch : {0, 1, 9}) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(content(draw_episode(fixed, epoch, i)), content(draw_episode(free, 0, i)));
      EXPECT_EQ(fixed.augment(epoch, i, 3).bits(), free.augment(0, i, 3).bits());
    }
  }
}

TEST(Episode, GivesASetOfClassesTheSameSamplesWhereTheyAreBoundToIt) {
  EpisodeSpec spec = spec_of(2, 1, 2);
  spec.binding = SampleBinding::kTuple;
  EpisodeSampler sampler(spec, equal_classes(4, 50), 8);
  std::map<std::set<std::uint32_t>, std::set<std::vector<std::uint64_t>>> samples;
  std::map<std::uint32_t, std::set<std::uint64_t>> shots;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Episode e = draw_episode(sampler, i % 5, i);
    const std::size_t low = e.classes[0] < e.classes[1] ? 0 : 1;
    samples[{e.classes[0], e.classes[1]}].insert({e.support[low], e.query[2 * low], e.query[2 * low + 1],
                                                  e.support[1 - low], e.query[2 - 2 * low], e.query[3 - 2 * low]});
    shots[e.classes[0]].insert(e.support[0]);
  }
  EXPECT_EQ(samples.size(), 6U);
  for (const auto& [set, each] : samples) EXPECT_EQ(each.size(), 1U);
  for (const auto& [number, each] : shots) EXPECT_GE(each.size(), 2U) << "a class looks the same in all of its sets";
}

TEST(Episode, AddsAugmentedClassesThatMayMeetTheirOwnOriginal) {
  EpisodeSpec spec = spec_of(2, 1, 1);
  spec.augment = {ClassAugment::kRotate90, ClassAugment::kFlipHorizontal};
  const std::vector<SampleClass> classes = equal_classes(3, 4);
  EpisodeSampler sampler(spec, classes, 9);
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t i = 0; i < 14400; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    ++seen[e.classes];
    for (std::size_t j = 0; j < 2; ++j) ASSERT_EQ(e.support[j] / 4, e.classes[j] % 3);
  }
  EXPECT_LT(chi_square(seen, 9 * 8), chi_square_limit(71)) << "nine classes, all pairs of them";
}

TEST(Episode, KeepsUnlabelledSamplesAndDistractorsApart) {
  EpisodeSpec spec = spec_of(2, 1, 2);
  spec.unlabelled = 3;
  spec.distractors = 2;
  EpisodeSampler sampler(spec, equal_classes(5, 6), 10);
  EXPECT_EQ(sampler.shape(), (EpisodeShape{2, 2, 4, 12}));
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    std::set<std::uint32_t> classes(e.classes.begin(), e.classes.end());
    classes.insert(e.distractors.begin(), e.distractors.end());
    ASSERT_EQ(classes.size(), 4U);
    ASSERT_EQ(e.unlabelled.size(), 12U);
    std::set<std::uint64_t> all(e.support.begin(), e.support.end());
    all.insert(e.query.begin(), e.query.end());
    all.insert(e.unlabelled.begin(), e.unlabelled.end());
    ASSERT_EQ(all.size(), 18U);
    for (std::size_t k = 0; k < 12; ++k)
      ASSERT_EQ(e.unlabelled[k] / 6, k < 6 ? e.classes[k / 3] : e.distractors[k / 3 - 2]);
  }
}

TEST(Episode, SubstitutesEachOtherSampleOfTheClassOnce) {
  EpisodeSampler sampler(spec_of(3, 1, 4), equal_classes(5, 12), 11);
  const Episode e = draw_episode(sampler, 0, 77);
  std::set<std::uint64_t> held(e.query.begin() + 4, e.query.begin() + 8);
  held.insert(e.support[1]);
  for (std::uint32_t row = 0; row < 5; ++row) {
    std::set<std::uint64_t> all = held;
    for (std::uint64_t attempt = 0; attempt < 7; ++attempt) {
      const auto other = sampler.substitute(0, 77, 1, row, attempt);
      ASSERT_TRUE(other);
      EXPECT_EQ(*other / 12, e.classes[1]);
      all.insert(*other);
    }
    EXPECT_EQ(all.size(), 12U);
    EXPECT_FALSE(sampler.substitute(0, 77, 1, row, 7));
  }
}

}  // namespace
}  // namespace feedring
