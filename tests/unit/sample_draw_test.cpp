// SPDX-License-Identifier: Apache-2.0
// Choices without repetition against a plain shuffle, and small numbers from halves of words.
#include "producers/plan/sample_draw.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "producers/plan/weighted_draw.hpp"

namespace feedring {
namespace {

SmallDraw draw_of(std::uint64_t ordinal) { return SmallDraw(Draw(1, 0, ordinal, Stream::kMembers)); }

/// Fisher-Yates as in the books, on a list of all items.
std::vector<std::uint32_t> shuffled(std::uint32_t n, std::uint32_t count, SmallDraw draw) {
  std::vector<std::uint32_t> items(n);
  std::iota(items.begin(), items.end(), 0U);
  for (std::uint32_t i = 0; i < count; ++i) std::swap(items[i], items[i + draw.below(n - i)]);
  items.resize(count);
  return items;
}

TEST(SampleDraw, IsTheBeginningOfAShuffleForEverySizeAndLength) {
  SampleDraw sample_draw;  // one for all, so that what it forgot to put back would show
  std::uint64_t ordinal = 0;
  for (const std::uint32_t n : {1U, 2U, 5U, 20U, 600U, 65536U, 65537U, 200000U, 3U, 70000U})
    for (const std::uint32_t count : {1U, 2U, 5U, 20U, 500U, 3000U, 65537U}) {
      if (count > n) continue;
      std::vector<std::uint32_t> out(count);
      SmallDraw draw = draw_of(++ordinal);
      sample_draw(n, draw, out);
      ASSERT_EQ(out, shuffled(n, count, draw_of(ordinal))) << n << " " << count;
    }
}

TEST(SmallDraw, TakesTheLowerHalfOfAWordFirst) {
  Draw words(0, 0, 0, Stream::kAugment);  // begins with 0x27090d78e556be4e (draw_test.cpp)
  SmallDraw draw(words);
  EXPECT_EQ(draw.below(16), 0xeU);
  EXPECT_EQ(draw.below(16), 0x2U);
  EXPECT_EQ(draw.between(3, 3), 3U);
}

TEST(SmallDraw, IsUniformWhereRejectionIsFrequent) {
  // n = 3 * 2^30: a quarter of the halves is drawn again; else the multiples of three would come twice as often.
  constexpr std::uint32_t kN = 3U << 30;
  constexpr int kCount = 200000;
  int residues[3] = {0, 0, 0};
  SmallDraw draw = draw_of(9);
  for (int i = 0; i < kCount; ++i) {
    const std::uint32_t value = draw.below(kN);
    ASSERT_LT(value, kN);
    ++residues[value % 3];
  }
  double sum = 0;
  for (const int seen : residues) sum += (seen - kCount / 3.0) * (seen - kCount / 3.0) / (kCount / 3.0);
  EXPECT_LT(sum, 18.4);  // 2 degrees of freedom, p = 0.0001
}

TEST(WholeWeights, AreProportionalAndNeverLoseAClass) {
  EXPECT_EQ(whole_weights({1, 4, 2, 0}),
            (std::vector<std::uint64_t>{std::uint64_t{1} << 30, std::uint64_t{1} << 32, std::uint64_t{1} << 31, 0}));
  EXPECT_EQ(whole_weights({1e-12, 1}), (std::vector<std::uint64_t>{1, std::uint64_t{1} << 32}));
}

// With everything taken one after the other, each number of the range comes once; those of weight zero do not.
TEST(WeightedDraw, TakesEachNumberOfTheRangeOnceAndPutsThemBack) {
  for (std::uint32_t n = 1; n <= 40; ++n) {
    std::vector<std::uint64_t> weights;
    for (std::uint32_t i = 0; i < n; ++i) weights.push_back(i % 5 == 3 ? 0 : 1 + i * i);
    WeightedDraw weighted(weights);
    Draw draw(n, 0, 0, Stream::kClasses);
    for (int turn = 0; turn < 2; ++turn) {
      const std::uint32_t begin = n / 3, end = n;
      std::vector<std::uint32_t> taken;
      for (std::uint32_t i = begin; i < end; ++i)
        if (weights[i] != 0) taken.push_back(weighted.take(draw, begin, end));
      std::vector<int> times(n, 0);
      for (const std::uint32_t number : taken) ++times[number];
      for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(times[i], i >= begin && weights[i] != 0 ? 1 : 0) << n << " " << i;
      for (const std::uint32_t number : taken) weighted.put_back(number);
    }
  }
}

}  // namespace
}  // namespace feedring
