// SPDX-License-Identifier: Apache-2.0
// What is said of episodes that cannot be had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>

#include "tests/unit/episode_support.hpp"

namespace feedring {
namespace {

using namespace test;
using testing::HasSubstr;

/// "data: …" or "usage: …"; "" where nothing is wrong.
std::string refusal(const EpisodeSpec& spec, const std::vector<SampleClass>& classes) {
  try {
    const EpisodeSampler sampler(spec, classes, 0);
  } catch (const Error& error) {
    return std::string(error.kind() == ErrorKind::kData ? "data: " : "usage: ") + error.what();
  }
  return "";
}

TEST(EpisodeCheck, NamesTheClassesThatAreTooSmallAndWhatAllCanGive) {
  EXPECT_EQ(refusal(spec_of(2, 5, 15), classes_of({600, 19, 20, 7})),
            "data: 2 of 4 classes have fewer than the 20 samples that shots = 5 and queries = 15 take: \"c3\" (7), "
            "\"c1\" (19); with all classes, at most queries = 2 with shots = 5; small_classes = \"skip\" leaves 2 "
            "classes");
  EXPECT_THAT(refusal(spec_of(2, 5, 15), equal_classes(3, 18)),
              HasSubstr("at most queries = 13 with shots = 5, or shots = 3 with queries = 15"));
  EXPECT_THAT(refusal(spec_of(2, 5, 5), equal_classes(3, 4)), HasSubstr("at most shots + queries = 4"));
  EXPECT_EQ(refusal(spec_of(2, 5, 15), equal_classes(3, 20)), "");
}

TEST(EpisodeCheck, AdvisesToSkipOnlyWhereEnoughClassesAreLeft) {
  EXPECT_THAT(refusal(spec_of(2, 1, 3), classes_of({4, 4, 1})), HasSubstr("\"skip\" leaves 2 classes"));
  EXPECT_THAT(refusal(spec_of(2, 1, 3), classes_of({4, 1, 1})), testing::Not(HasSubstr("skip")));
}

TEST(EpisodeCheck, CountsWhatItDoesNotName) {
  EXPECT_THAT(refusal(spec_of(2, 1, 15), equal_classes(30, 3)), HasSubstr("\"c7\" (3) and 22 more"));
}

TEST(EpisodeCheck, LeavesSmallClassesOutIfAsked) {
  EpisodeSpec spec = spec_of(2, 1, 1);
  spec.small_classes = SmallClasses::kSkip;
  EpisodeSampler sampler(spec, classes_of({2, 1, 0, 2}), 0);
  EXPECT_EQ(sampler.pool().skipped(), (std::vector<std::string>{"c1", "c2"}));
  for (std::uint64_t i = 0; i < 50; ++i)
    for (const std::uint32_t number : draw_episode(sampler, 0, i).classes) EXPECT_TRUE(number == 0 || number == 3);
  spec.ways = {3, 3};
  EXPECT_THAT(refusal(spec, classes_of({2, 1, 0, 2})), HasSubstr("at most ways = 2"));
}

TEST(EpisodeCheck, SaysTheLargestNumberOfWays) {
  EXPECT_EQ(refusal(spec_of(5, 1, 1), equal_classes(3, 9)),
            "data: ways = 5 need as many classes, but the data has 3 large enough: at most ways = 3");
  EpisodeSpec spec = spec_of(5, 1, 1);
  spec.augment = {ClassAugment::kRotate180};
  EXPECT_EQ(refusal(spec, equal_classes(3, 9)), "") << "six with their rotations";
  spec.ways = {7, 7};
  EXPECT_THAT(refusal(spec, equal_classes(3, 9)),
              HasSubstr("has 6 large enough, augmented ones included: at most ways = 6"));
  spec = spec_of(2, 1, 1);
  spec.unlabelled = 1;
  spec.distractors = 2;
  EXPECT_THAT(refusal(spec, equal_classes(3, 9)),
              HasSubstr("distractors = 2 need as many classes, but the data has 3"));
  EXPECT_THAT(refusal(spec, equal_classes(3, 9)), HasSubstr("at most ways = 1"));
  spec = spec_of(2, 1, 1);
  spec.within_superclass = true;
  EXPECT_THAT(refusal(spec, {{"a/1", 0, 5}, {"b/1", 5, 5}}),
              HasSubstr("the largest of 2 superclasses in the data has 1 large enough: at most ways = 1"));
  spec = spec_of(2, 1, 1);
  spec.mixture = {{"a/", 1.0}, {"z/", 1.0}};
  EXPECT_THAT(refusal(spec, {{"a/1", 0, 5}, {"a/2", 5, 5}}),
              HasSubstr("mixture \"z/\" has 0 large enough: no episode can be drawn"));
}

TEST(EpisodeCheck, BalancedNeedsWaysThatDivideTheClassesOrTwiceAsMany) {
  EpisodeSpec spec = spec_of(5, 1, 1);
  spec.classes = ClassDraw::kBalanced;
  EXPECT_EQ(refusal(spec, equal_classes(5, 2)), "");
  EXPECT_EQ(refusal(spec, equal_classes(10, 2)), "");
  EXPECT_EQ(refusal(spec, equal_classes(11, 2)), "");
  for (const std::size_t classes : {6U, 7U, 8U, 9U}) {
    EXPECT_THAT(refusal(spec, equal_classes(classes, 2)), testing::StartsWith("usage: classes = \"balanced\" cannot"));
  }
}

TEST(EpisodeCheck, EnumerateRefusesSetsThatCannotBeCountedWithTheirCount) {
  EpisodeSpec spec = spec_of(20, 1, 1);
  spec.classes = ClassDraw::kEnumerate;
  EXPECT_THAT(refusal(spec, equal_classes(4112, 2)), HasSubstr("about 7.50e+53 sets of 20 out of 4112 classes"));
  spec = spec_of(10, 1, 1);
  spec.classes = ClassDraw::kEnumerate;
  EXPECT_THAT(refusal(spec, equal_classes(4112, 2)), HasSubstr("has 376713883744178868906675066696 sets"));
  spec = spec_of(2, 1, 1);
  spec.classes = ClassDraw::kEnumerate;
  spec.tasks_per_epoch = 11;
  EXPECT_THAT(refusal(spec, equal_classes(5, 2)), HasSubstr("tasks_per_epoch = 11 is more than the 10 sets"));
  spec.tasks_per_epoch = 10;
  EXPECT_EQ(refusal(spec, equal_classes(5, 2)), "");
}

TEST(EpisodeCheck, RefusesWhatExcludesEachOther) {
  for (const ClassDraw draw : {ClassDraw::kBalanced, ClassDraw::kEnumerate}) {
    EpisodeSpec plain = spec_of(2, 1, 1);
    plain.classes = draw;
    EXPECT_EQ(refusal(plain, equal_classes(6, 9)), "");
    EpisodeSpec spec = plain;
    spec.class_weights = {{"c0", 2.0}};
    EXPECT_THAT(refusal(spec, equal_classes(6, 9)), HasSubstr("cannot be had with class_weights"));
    spec = plain;
    spec.within_superclass = true;
    EXPECT_THAT(refusal(spec, equal_classes(6, 9)), HasSubstr("cannot be had with within_superclass"));
    spec = plain;
    spec.ways = {2, 3};
    EXPECT_THAT(refusal(spec, equal_classes(6, 9)), HasSubstr("cannot be had with a number of ways that varies"));
  }
  EpisodeSpec spec = spec_of(2, 1, 1);
  spec.binding = SampleBinding::kTuple;
  spec.shots = {1, 2};
  EXPECT_THAT(refusal(spec, equal_classes(6, 9)), HasSubstr("shots and queries cannot vary"));
  spec = spec_of(2, 1, 1);
  spec.query_weights = {1, 2};
  EXPECT_THAT(refusal(spec, equal_classes(6, 9)), HasSubstr("query_split = \"weighted\" only"));
  spec.query_split = QuerySplit::kWeighted;
  EXPECT_EQ(refusal(spec, equal_classes(6, 9)), "");
  spec.ways = {3, 3};
  EXPECT_THAT(refusal(spec, equal_classes(6, 9)), HasSubstr("query_weights has 2 numbers for ways = 3"));
  spec = spec_of(2, 1, 1);
  spec.distractors = 1;
  EXPECT_THAT(refusal(spec, equal_classes(6, 9)), HasSubstr("say how many of each with unlabelled"));
}

TEST(EpisodeCheck, NamesAClassThatTheDataDoesNotHave) {
  EpisodeSpec spec = spec_of(2, 1, 1);
  spec.only = {"c0", "c1", "c9"};
  EXPECT_EQ(refusal(spec, equal_classes(6, 9)), "usage: only names the class \"c9\", which the data does not have");
  spec.only.clear();
  spec.class_weights = {{"x", 2.0}};
  EXPECT_THAT(refusal(spec, equal_classes(6, 9)), HasSubstr("class_weights names the class \"x\""));
}

}  // namespace
}  // namespace feedring
