// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/class_shortage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <string>

namespace feedring {
namespace {

constexpr std::size_t kNamed = 8;  // the rest is counted: a message is read by a person

std::string list_of(const std::vector<SampleClass>& classes, std::vector<std::uint32_t> numbers) {
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return classes[a].count < classes[b].count; });
  std::string text;
  for (std::size_t i = 0; i < std::min(numbers.size(), kNamed); ++i)
    text += fmt::format("{}\"{}\" ({})", i == 0 ? "" : ", ", classes[numbers[i]].name, classes[numbers[i]].count);
  if (numbers.size() > kNamed) text += fmt::format(" and {} more", numbers.size() - kNamed);
  return text;
}

std::string demand_of(const EpisodeSpec& spec) {
  if (spec.sizes == EpisodeSizes::kMetaDataset) return "a shot and a query";
  std::string text = fmt::format("shots = {} and queries = {}", spec.shots.high, spec.queries.high);
  if (spec.query_split == QuerySplit::kWeighted) text += " with their query_weights";
  if (spec.unlabelled != 0) text += fmt::format(" and unlabelled = {}", spec.unlabelled);
  return text;
}

/// `at most queries = 3 with shots = 2, or shots = 1 with queries = 4`: what a class of `samples` can give. Empty where
/// that is nothing, or no two numbers say it.
std::string feasible_with(const EpisodeSpec& spec, std::uint64_t samples) {
  if (spec.sizes != EpisodeSizes::kGiven || spec.query_split == QuerySplit::kWeighted) return "";
  const std::uint64_t but_queries = std::uint64_t{spec.shots.high} + spec.unlabelled;
  const std::uint64_t but_shots = std::uint64_t{spec.queries.high} + spec.unlabelled;
  std::string text;
  if (samples > but_queries)
    text = fmt::format("at most queries = {} with shots = {}", samples - but_queries, spec.shots.high);
  if (samples > but_shots)
    text += fmt::format("{} shots = {} with queries = {}", text.empty() ? "at most" : ", or", samples - but_shots,
                        spec.queries.high);
  if (text.empty() && samples >= spec.unlabelled + 2)
    text = fmt::format("at most shots + queries = {}", samples - spec.unlabelled);
  return text;
}

}  // namespace

void refuse_small(const EpisodeSpec& spec, const std::vector<SampleClass>& classes,
                  const std::vector<std::uint32_t>& small, std::size_t large) {
  std::uint64_t fewest = classes[small.front()].count;
  for (const std::uint32_t c : small) fewest = std::min(fewest, classes[c].count);
  const std::string feasible = feasible_with(spec, fewest);
  const bool enough = large * (1 + spec.augment.size()) >= std::uint64_t{spec.ways.low} + spec.distractors;
  throw Error(ErrorKind::kData,
              fmt::format("{} of {} classes have fewer than the {} samples that {} take: {}{}{}", small.size(),
                          small.size() + large, samples_needed(spec), demand_of(spec), list_of(classes, small),
                          feasible.empty() ? "" : "; with all classes, " + feasible,
                          enough ? fmt::format("; small_classes = \"skip\" leaves {} classes", large) : ""));
}

void refuse_few(const EpisodeSpec& spec, std::string_view source, std::uint64_t largest, std::size_t groups) {
  std::string from = source.empty() ? "the data" : fmt::format("mixture \"{}\"", source);
  if (spec.within_superclass) from = fmt::format("the largest of {} superclasses in {}", groups, from);
  const std::string_view counted = spec.augment.empty() ? "" : ", augmented ones included";
  const std::string distractors = spec.distractors == 0 ? "" : fmt::format(" and distractors = {}", spec.distractors);
  const std::uint64_t feasible = largest - std::min<std::uint64_t>(largest, spec.distractors);
  throw Error(ErrorKind::kData,
              fmt::format("ways = {}{} need as many classes, but {} has {} large enough{}: {}", spec.ways.low,
                          distractors, from, largest, counted,
                          feasible == 0 ? "no episode can be drawn" : fmt::format("at most ways = {}", feasible)));
}

}  // namespace feedring
