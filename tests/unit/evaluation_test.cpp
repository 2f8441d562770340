// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <feedring/error.hpp>
#include <feedring/evaluation.hpp>
#include <limits>

namespace feedring {
namespace {

Evaluation of(const std::vector<double>& values) {
  Evaluation evaluation;
  for (std::size_t i = 0; i < values.size(); ++i) evaluation.add(i, values[i]);
  return evaluation;
}

// By hand: mean 2.5, squares 2.25 + 0.25 + 0.25 + 2.25 = 5, s = sqrt(5 / 3), half of it times 1.96.
TEST(Evaluation, ReportsMeanDeviationAndTheInterval) {
  const Summary summary = of({1, 2, 3, 4}).summary();
  EXPECT_EQ(summary.episodes, 4U);
  EXPECT_EQ(summary.mean, 2.5);
  EXPECT_DOUBLE_EQ(summary.deviation, std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(summary.half_width, 0.98 * std::sqrt(5.0 / 3));
}

TEST(Evaluation, OfRanksIsBitEqualToThatOfOne) {
  // Thirds and sevenths: sums in another order differ in the last bit.
  Evaluation alone;
  std::vector<Evaluation> ranks(3);
  double naive = 0;
  for (std::uint64_t i = 0; i < 600; ++i) {
    const double value = static_cast<double>(i % 7) / 7 + 1.0 / (3.0 + static_cast<double>(i));
    alone.add(i, value);
    ranks[i % 3].add(i, value);
    ranks[(i + 1) % 3].add(0, 9.0, false);  // padding says nothing
  }
  Evaluation gathered;
  for (const std::size_t rank : {2U, 0U, 1U}) {
    gathered.add(ranks[rank]);
    for (const double value : ranks[rank].values()) naive += value;
  }
  EXPECT_EQ(gathered.episodes(), 600U);
  EXPECT_EQ(gathered.values(), alone.values());
  EXPECT_EQ(gathered.summary().mean, alone.summary().mean);
  EXPECT_EQ(gathered.summary().half_width, alone.summary().half_width);
  EXPECT_NE(naive / 600, alone.summary().mean) << "the order of sums would not have mattered: take other values";
}

// By hand: differences 1, 1, 4: mean 2, squares 1 + 1 + 4, s = sqrt(3), 1.96 * sqrt(3) / sqrt(3).
TEST(Evaluation, ComparesTwoMethodsEpisodeByEpisode) {
  const Summary summary = paired_difference(of({3, 8, 9}), of({2, 7, 5}));
  EXPECT_EQ(summary.mean, 2.0);
  EXPECT_DOUBLE_EQ(summary.deviation, std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(summary.half_width, 1.96);
}

TEST(Evaluation, RefusesWhatWouldBeWrong) {
  Evaluation evaluation = of({1, 2});
  evaluation.add(1, 2.0);  // the same again
  EXPECT_THROW(evaluation.add(1, 2.5), Error);
  EXPECT_THROW(evaluation.add(7, std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_EQ(evaluation.episodes(), 2U);
  EXPECT_THROW(static_cast<void>(Evaluation().summary()), Error);
  EXPECT_THROW(static_cast<void>(paired_difference(of({1, 2}), of({1, 2, 3}))), Error);
  EXPECT_THROW(static_cast<void>(paired_difference(of({1, 2, 3}), of({1, 2}))), Error);
  EXPECT_TRUE(std::isnan(of({1}).summary().deviation));
}

}  // namespace
}  // namespace feedring
