// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/normal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace feedring {
namespace {

// By statistics.NormalDist().inv_cdf of Python.
TEST(Normal, HasTheQuantilesOfTheDistribution) {
  for (const auto& [p, x] :
       {std::pair{0.5, 0.0}, std::pair{0.975, 1.9599639845400536}, std::pair{0.001, -3.090232306167813},
        std::pair{1e-10, -6.361340902404056}, std::pair{0.3, -0.5244005127080407},
        std::pair{0.999999, 4.753424308817089}, std::pair{0x1.0p-54, -8.292361075813595}}) {
    EXPECT_NEAR(normal_quantile(p), x, 4e-15 * std::fabs(x)) << p;
  }
}

// Of n numbers the sums of powers have known deviations: var(x) = 1, var(x^2) = 2, var(x^3) = 15, var(x^4) = 96.
TEST(Normal, DrawsHaveTheMomentsOfTheDistribution) {
  constexpr int kTimes = 200'000;
  double sums[4] = {};
  int inside = 0;
  Draw random(11, 2, 5, Stream::kNoise);
  for (int i = 0; i < kTimes; ++i) {
    const double x = standard_normal(random);
    double power = 1.0;
    for (double& sum : sums) sum += power *= x;
    inside += std::fabs(x) < 1.0 ? 1 : 0;
  }
  const double expected[4] = {0.0, 1.0, 0.0, 3.0};
  const double deviation[4] = {1.0, std::sqrt(2.0), std::sqrt(15.0), std::sqrt(96.0)};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(sums[i] / kTimes, expected[i], 5 * deviation[i] / std::sqrt(kTimes)) << i;
  EXPECT_NEAR(inside, 0.6826894921 * kTimes, 5 * std::sqrt(kTimes * 0.6826894921 * 0.3173105079));
}

}  // namespace
}  // namespace feedring
