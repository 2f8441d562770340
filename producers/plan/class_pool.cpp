// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/class_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <map>
#include <unordered_map>

#include "producers/plan/class_shortage.hpp"

namespace feedring {
namespace {

using Numbers = std::unordered_map<std::string_view, std::uint32_t>;

std::uint32_t number_of(const Numbers& numbers, const std::string& name, std::string_view key) {
  const auto found = numbers.find(name);
  if (found == numbers.end()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} names the class \"{}\", which the data does not have", key, name));
  }
  return found->second;
}

/// Weights by class of the data set.
std::vector<double> weights_of(const EpisodeSpec& spec, const Numbers& numbers, std::size_t classes) {
  std::vector<double> weights(classes, 1.0);
  for (const auto& [name, weight] : spec.class_weights) weights[number_of(numbers, name, "class_weights")] = weight;
  return weights;
}

std::vector<std::uint32_t> chosen_classes(const EpisodeSpec& spec, const Numbers& numbers, std::size_t classes) {
  const std::vector<double> weights = weights_of(spec, numbers, classes);
  std::vector<bool> takes_part(classes, spec.only.empty());
  for (const std::string& name : spec.only) takes_part[number_of(numbers, name, "only")] = true;
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t c = 0; c < classes; ++c) {
    if (takes_part[c] && weights[c] > 0) chosen.push_back(c);
  }
  return chosen;
}

/// The longest beginning in the mixture that `name` has; nullptr: none.
const std::pair<std::string, double>* source_of(const EpisodeSpec& spec, std::string_view name) {
  const std::pair<std::string, double>* best = nullptr;
  for (const auto& each : spec.mixture) {
    if (name.starts_with(each.first) && (best == nullptr || each.first.size() > best->first.size())) best = &each;
  }
  return best;
}

}  // namespace

std::string_view superclass_of(std::string_view name) noexcept {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

std::uint64_t samples_needed(const EpisodeSpec& spec) {
  if (spec.sizes == EpisodeSizes::kMetaDataset) return 2;  // one for each set: floor(2 / 2) queries
  std::uint64_t queries = spec.queries.high;
  if (spec.query_split == QuerySplit::kWeighted) {
    const std::vector<std::uint32_t> counts = weighted_queries(spec);
    queries = *std::max_element(counts.begin(), counts.end());
  }
  return std::uint64_t{spec.shots.high} + queries + spec.unlabelled;
}

void ClassPool::leave_out_small(const EpisodeSpec& spec, const std::vector<SampleClass>& classes,
                                std::vector<std::uint32_t>& chosen) {
  const std::uint64_t needed = samples_needed(spec);
  std::vector<std::uint32_t> large, small;
  for (const std::uint32_t c : chosen) (classes[c].count >= needed ? large : small).push_back(c);
  if (!small.empty() && spec.small_classes == SmallClasses::kError) refuse_small(spec, classes, small, large.size());
  for (const std::uint32_t c : small) skipped_.push_back(classes[c].name);
  chosen = std::move(large);
}

void ClassPool::group(const EpisodeSpec& spec, const std::vector<SampleClass>& classes,
                      const std::vector<std::uint32_t>& chosen, std::string_view source) {
  std::map<std::string_view, std::vector<std::uint32_t>> by_name;
  for (const std::uint32_t c : chosen)
    by_name[spec.within_superclass ? superclass_of(classes[c].name) : std::string_view()].push_back(c);
  const std::uint64_t looks = 1 + spec.augment.size();
  const std::uint64_t wanted = std::uint64_t{spec.ways.low} + spec.distractors;
  Source added;
  added.begin = static_cast<std::uint32_t>(groups_.size());
  std::uint64_t largest = 0;
  for (const auto& [name, numbers] : by_name) {
    largest = std::max<std::uint64_t>(largest, looks * numbers.size());
    if (looks * numbers.size() < wanted) continue;
    Group group;
    group.begin = static_cast<std::uint32_t>(members_.size());
    for (std::uint64_t look = 0; look < looks; ++look) {
      for (const std::uint32_t c : numbers) members_.push_back(static_cast<std::uint32_t>(look * classes.size() + c));
    }
    group.end = static_cast<std::uint32_t>(members_.size());
    groups_.push_back(group);
  }
  added.end = static_cast<std::uint32_t>(groups_.size());
  if (added.begin == added.end) refuse_few(spec, source, largest, by_name.size());
  sources_.push_back(added);
}

ClassPool::ClassPool(const EpisodeSpec& spec, const std::vector<SampleClass>& classes) {
  if (const auto sentence = contradiction_in(spec)) throw Error(ErrorKind::kUsage, *sentence);
  if (classes.size() * (1 + spec.augment.size()) >= (std::uint64_t{1} << 31))
    throw Error(ErrorKind::kData, fmt::format("{} classes are more than episodes can be drawn from", classes.size()));
  Numbers numbers;
  for (std::uint32_t c = 0; c < classes.size(); ++c) {
    numbers.emplace(classes[c].name, c);
    if (classes[c].count >= (std::uint64_t{1} << 32) - 1)
      throw Error(ErrorKind::kData,
                  fmt::format("class \"{}\" has more samples than episodes can be drawn from", classes[c].name));
  }
  std::vector<std::uint32_t> chosen = chosen_classes(spec, numbers, classes.size());
  if (!spec.mixture.empty()) {
    std::erase_if(chosen, [&](std::uint32_t c) { return source_of(spec, classes[c].name) == nullptr; });
  }
  leave_out_small(spec, classes, chosen);
  if (spec.mixture.empty()) {
    group(spec, classes, chosen, "");
  } else {
    for (const auto& each : spec.mixture) {
      std::vector<std::uint32_t> part;
      for (const std::uint32_t c : chosen) {
        if (source_of(spec, classes[c].name) == &each) part.push_back(c);
      }
      group(spec, classes, part, each.first);
      sources_.back().weight = each.second;
    }
  }
  if (!spec.class_weights.empty()) {
    const std::vector<double> weights = weights_of(spec, numbers, classes.size());
    for (const std::uint32_t member : members_) weights_.push_back(weights[member % classes.size()]);
  }
}

}  // namespace feedring
