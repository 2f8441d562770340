// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <feedring/error.hpp>
#include <feedring/evaluation.hpp>
#include <limits>

namespace feedring {
namespace {

Summary summary_of(const std::vector<double>& values) {
  if (values.empty()) throw Error(ErrorKind::kUsage, "there is no episode to summarise: add results first");
  const auto count = static_cast<double>(values.size());
  Summary summary;
  summary.episodes = values.size();
  for (const double value : values) summary.mean += value;
  summary.mean /= count;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.deviation = values.size() > 1 ? std::sqrt(squares / (count - 1)) : std::numeric_limits<double>::quiet_NaN();
  summary.half_width = 1.96 * summary.deviation / std::sqrt(count);
  return summary;
}

}  // namespace

void Evaluation::add(std::uint64_t ordinal, double value, bool valid) {
  if (!valid) return;
  if (!std::isfinite(value))
    throw Error(ErrorKind::kUsage, fmt::format("the result of episode {} is {}, no finite number", ordinal, value));
  const auto [at, is_new] = by_ordinal_.emplace(ordinal, value);
  if (!is_new && at->second != value) {
    throw Error(ErrorKind::kUsage,
                fmt::format("episode {} has the result {} already, and now {}: ranks must evaluate the same model, and "
                            "each evaluation needs an Evaluation of its own",
                            ordinal, at->second, value));
  }
}

void Evaluation::add(const Evaluation& other) {
  for (const auto& [ordinal, value] : other.by_ordinal_) add(ordinal, value);
}

std::vector<double> Evaluation::values() const {
  std::vector<double> values;
  values.reserve(by_ordinal_.size());
  for (const auto& [ordinal, value] : by_ordinal_) values.push_back(value);
  return values;
}

Summary Evaluation::summary() const { return summary_of(values()); }

Summary paired_difference(const Evaluation& a, const Evaluation& b) {
  std::vector<double> differences;
  auto other = b.results().begin();
  for (const auto& [ordinal, value] : a.results()) {
    if (other == b.results().end() || other->first != ordinal) break;
    differences.push_back(value - other->second);
    ++other;
  }
  if (differences.size() != a.episodes() || differences.size() != b.episodes()) {
    throw Error(ErrorKind::kUsage, fmt::format("a paired difference needs results of the same episodes: {} and {} of "
                                               "them have only the first {} in common",
                                               a.episodes(), b.episodes(), differences.size()));
  }
  return summary_of(differences);
}

}  // namespace feedring
