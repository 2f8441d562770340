// SPDX-License-Identifier: Apache-2.0
// What few-shot papers report: a mean over episodes with its 95 % interval, and the difference of two methods on the
// same episodes. Results are kept by ordinal and summed in that order, so that those gathered from any number of ranks
// give the same numbers, to the last bit, as those of a single one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace feedring {

/// Over M episodes. With M = 1, deviation and half_width are NaN: one value says nothing about their spread.
struct Summary {
  std::uint64_t episodes = 0;
  double mean = 0;
  double deviation = 0;   ///< of the sample: sqrt(sum (x - mean)^2 / (M - 1))
  double half_width = 0;  ///< 1.96 * deviation / sqrt(M): the interval is mean ± half_width
};

/// One number for each episode, such as the accuracy over its queries. A value type, for one thread at a time.
class Evaluation {
 public:
  /// Episodes that are not valid (padding) are left out. Throws Error(kUsage) where the ordinal has another value
  /// already: two ranks then evaluated different models or episodes; and for a value that is not finite.
  void add(std::uint64_t ordinal, double value, bool valid = true);
  /// All of another rank's. Throws as add() does.
  void add(const Evaluation& other);

  [[nodiscard]] std::uint64_t episodes() const noexcept { return by_ordinal_.size(); }
  /// By ordinal.
  [[nodiscard]] const std::map<std::uint64_t, double>& results() const noexcept { return by_ordinal_; }
  /// The values in the order of their ordinals.
  [[nodiscard]] std::vector<double> values() const;
  /// Throws Error(kUsage) where there is no episode.
  [[nodiscard]] Summary summary() const;

 private:
  std::map<std::uint64_t, double> by_ordinal_;
};

/// Of a - b, episode by episode: its interval is narrower than those of a and b, since what makes an episode hard is
/// hard for both. Throws Error(kUsage) where they are not of the same ordinals, or of none.
[[nodiscard]] Summary paired_difference(const Evaluation& a, const Evaluation& b);

}  // namespace feedring
