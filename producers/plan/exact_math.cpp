// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/exact_math.hpp"

#include <cmath>

namespace feedring {
namespace {

// ln 2 in two parts (the first has 21 trailing zero bits), so that k * kLn2High is exact for every exponent k.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kRootHalf = 0x1.6a09e667f3bcdp-1;

}  // namespace

double exact_log(double x) noexcept {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // exact: takes the bits apart
  if (mantissa < kRootHalf) {
    mantissa *= 2.0;
    --exponent;
  }
  // ln m = 2 artanh s with s = (m - 1) / (m + 1), |s| < 0.172: s^23 / 23 is below a unit in the last place.
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double square = s * s;
  double series = 0.0;
  for (int n = 21; n >= 1; n -= 2) series = series * square + 1.0 / n;
  return exponent * kLn2High + (exponent * kLn2Low + 2.0 * s * series);
}

double exact_exp(double x) noexcept {
  const double k = std::floor(x * kLog2E + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| < 0.347: r^14 / 14! is below a unit in the last place
  double series = 1.0;
  for (int n = 13; n >= 1; --n) series = 1.0 + r / n * series;
  return std::ldexp(series, static_cast<int>(k));  // exact: shifts the exponent
}

}  // namespace feedring
