// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/draw.hpp"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace feedring {
namespace {

constexpr std::uint64_t kMax = ~std::uint64_t{0};

std::vector<std::uint64_t> first_words(Draw draw, int count) {
  std::vector<std::uint64_t> words;
  for (int i = 0; i < count; ++i) words.push_back(draw.bits());
  return words;
}

// Random123's own kat_vectors file, lines "philox4x64 10".
TEST(Draw, UsesAPhiloxThatGivesThePublishedKnownAnswers) {
  using Words = r123::Philox4x64::ctr_type;
  const Words zeros = r123::Philox4x64{}({{0, 0, 0, 0}}, {{0, 0}});
  EXPECT_EQ(zeros, (Words{{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}}));
  const Words ones = r123::Philox4x64{}({{kMax, kMax, kMax, kMax}}, {{kMax, kMax}});
  EXPECT_EQ(ones, (Words{{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}}));
  const Words pi =
      r123::Philox4x64{}({{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89}},
                         {{0x452821e638d01377, 0xbe5466cf34e90c6c}});
  EXPECT_EQ(pi, (Words{{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}}));
}

TEST(Draw, OfZerosIsThePublishedKnownAnswerOfZeros) {
  EXPECT_EQ(
      first_words(Draw(0, 0, 0, Stream{0}), 4),
      (std::vector<std::uint64_t>{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
}

// Reference: numpy.random.Philox(counter = ordinal + epoch * 2^64 + stream * 2^128 + block * 2^192 - 1, key = seed),
// random_raw(4), for blocks 0 and 1 (NumPy counts up before its first block).
TEST(Draw, PlacesOrdinalEpochStreamAndBlockInTheCounterAndTheSeedInTheKey) {
  EXPECT_EQ(
      first_words(Draw(0, 0, 0, Stream::kAugment), 8),
      (std::vector<std::uint64_t>{0x27090d78e556be4e, 0xcb0c93488cc4dc9f, 0x4e153290958cd8b5, 0xdb344f7a244a59fc,
                                  0x1720fd8f2dd924cb, 0xf89d2dc1641300a9, 0x214d7438d145f831, 0x14eb357350fcc2ae}));
  EXPECT_EQ(
      first_words(Draw(42, 3, 1000003, Stream::kOrder), 8),
      (std::vector<std::uint64_t>{0xeeefcfcb684d9e7c, 0x321aef82ec7b8af9, 0x6521922950ea742a, 0xddcd9f0820b1b93a,
                                  0xc558df1b57e9db2d, 0x1175629584360b5e, 0x0a6ccad75c4bf301, 0x766e0b0af50da9a1}));
  EXPECT_EQ(
      first_words(Draw(kMax, kMax, kMax, Stream::kLabels), 8),
      (std::vector<std::uint64_t>{0xb0b81ccaec8974bd, 0xbec83ea80f94abc9, 0x628d8927fcbe6b6f, 0x9fbef637039f11ba,
                                  0xf7db0bc97889c826, 0x319b690ced6caa4c, 0xb4531082ca8afbc4, 0xc38bb8a1e7f39f9b}));
}

TEST(Draw, UniformIsTheUpper53BitsOverTwoToThe53) {
  Draw draw(0, 0, 0, Stream::kAugment);
  EXPECT_EQ(draw.uniform(), 1373434694904535.0 / 9007199254740992.0);  // 0x27090d78e556be4e >> 11
  EXPECT_EQ(draw.uniform(), static_cast<double>(0xcb0c93488cc4dc9fULL >> 11) / 9007199254740992.0);
}

TEST(Draw, UniformStaysInTheHalfOpenUnitIntervalWithMeanAHalfAndVarianceATwelfth) {
  constexpr int kCount = 1 << 18;
  double sum = 0, squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = Draw(7, 0, static_cast<std::uint64_t>(i), Stream::kAugment).uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += (u - 0.5) * (u - 0.5);
  }
  EXPECT_NEAR(sum / kCount, 0.5, 5 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(squares / kCount, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / kCount));
}

// Lemire: the upper 64 bits of word * n, where the lower ones are not in the surplus. floor(w * 10 / 2^64) by Python.
TEST(Draw, BelowScalesTheWord) {
  EXPECT_EQ(Draw(0, 0, 0, Stream::kAugment).below(10), 1U);                          // 0x27… / 2^64 = 0.1524…
  EXPECT_EQ(Draw(42, 3, 1000003, Stream::kOrder).below(10), 9U);                     // 0xee… / 2^64 = 0.9333…
  EXPECT_EQ(Draw(42, 3, 1000003, Stream::kOrder).below(kMax), 0xeeefcfcb684d9e7bU);  // floor(w - w / 2^64)
}

TEST(Draw, BelowOneIsZeroAndNeverDivides) {
  Draw draw(1, 2, 3, Stream::kOrder);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(draw.below(1), 0U);
}

TEST(Draw, BelowIsUniformWhereRejectionIsFrequent) {
  // n = 3 * 2^62: a quarter of the words are rejected. Without rejection the words 0, 1, 2, 3 would give 0, 0, 1, 2,
  // and so on: every multiple of three twice as often as the other numbers.
  constexpr std::uint64_t kN = std::uint64_t{3} << 62;
  constexpr int kCount = 200000;
  int residues[3] = {0, 0, 0};
  Draw draw(5, 0, 0, Stream::kMembers);
  for (int i = 0; i < kCount; ++i) {
    const std::uint64_t value = draw.below(kN);
    ASSERT_LT(value, kN);
    ++residues[value % 3];
  }
  double chi_square = 0;
  for (const int seen : residues) chi_square += std::pow(seen - kCount / 3.0, 2) / (kCount / 3.0);
  EXPECT_LT(chi_square, 18.4);  // 2 degrees of freedom, p = 0.0001
}

TEST(Draw, SharesNoNumberBetweenStreamsEpochsSeedsAndOrdinals) {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (std::uint64_t epoch = 0; epoch < 6; ++epoch)
      for (std::uint64_t ordinal = 0; ordinal < 6; ++ordinal)
        for (const Stream stream : {Stream::kOrder, Stream::kAugment, Stream::kSubstitute, Stream::kClasses})
          for (const std::uint64_t word : first_words(Draw(seed, epoch, ordinal, stream), 9)) {
            seen.insert(word);
            ++drawn;
          }
  EXPECT_EQ(seen.size(), drawn);
}

}  // namespace
}  // namespace feedring
