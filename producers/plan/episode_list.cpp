// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/episode_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <numeric>
#include <span>

namespace feedring {
namespace {

/// Looks at one episode after another; keeps scratch memory.
class Examiner {
 public:
  Examiner(const EpisodeSpec& spec, const std::vector<SampleClass>& classes)
      : spec_(spec), classes_(classes), shape_(shape_of(spec)), one_shape_(has_one_shape(spec)) {}

  /// What is wrong, as a clause; empty where all is well.
  std::string look(const Episode& episode) {
    if (std::string clause = shape_of_it(episode); !clause.empty()) return clause;
    if (std::string clause = classes_of_it(episode); !clause.empty()) return clause;
    return samples_of_it(episode);
  }

 private:
  [[nodiscard]] std::string shape_of_it(const Episode& e) const {
    const std::size_t ways = e.classes.size();
    if (ways < spec_.ways.low || ways > spec_.ways.high)
      return fmt::format("has {} classes, and ways says {} to {}", ways, spec_.ways.low, spec_.ways.high);
    if (e.distractors.size() != spec_.distractors)
      return fmt::format("has {} distractors, and distractors says {}", e.distractors.size(), spec_.distractors);
    if (e.unlabelled.size() != (ways + spec_.distractors) * spec_.unlabelled)
      return fmt::format("has {} unlabelled samples, and unlabelled says {} of each class", e.unlabelled.size(),
                         spec_.unlabelled);
    for (std::size_t j = 0; one_shape_ && j < ways; ++j) {
      if (e.sizes.shots[j] != spec_.shots.high || e.sizes.queries[j] != spec_.queries.high)
        return fmt::format("has {} shots and {} queries of a class, and the first line says {} and {}",
                           e.sizes.shots[j], e.sizes.queries[j], spec_.shots.high, spec_.queries.high);
    }
    if (e.support.size() > shape_.support || e.query.size() > shape_.queries)
      return fmt::format("has a support set of {} and {} queries, and the first line says {} and {} at most",
                         e.support.size(), e.query.size(), shape_.support, shape_.queries);
    return {};
  }

  std::string classes_of_it(const Episode& e) {
    const std::uint64_t most = classes_.size() * (spec_.augment.size() + 1);
    numbers_.assign(e.classes.begin(), e.classes.end());
    numbers_.insert(numbers_.end(), e.distractors.begin(), e.distractors.end());
    std::sort(numbers_.begin(), numbers_.end());
    if (numbers_.back() >= most) return fmt::format("has class {}, and the data set has {}", numbers_.back(), most);
    if (const auto twice = std::adjacent_find(numbers_.begin(), numbers_.end()); twice != numbers_.end())
      return fmt::format("has class {} twice", *twice);
    numbers_.assign(e.labels.begin(), e.labels.end());
    std::sort(numbers_.begin(), numbers_.end());
    for (std::size_t label = 0; label < numbers_.size(); ++label) {
      if (numbers_[label] != label) return "has labels that are not the numbers below that of its classes";
    }
    return {};
  }

  std::string samples_of_it(const Episode& e) {
    const std::uint64_t* support = e.support.data();
    const std::uint64_t* query = e.query.data();
    const std::uint64_t* unlabelled = e.unlabelled.data();
    for (std::size_t place = 0; place < e.classes.size() + e.distractors.size(); ++place) {
      const bool labelled = place < e.classes.size();
      const std::uint32_t number = labelled ? e.classes[place] : e.distractors[place - e.classes.size()];
      const SampleClass& of = classes_[number % classes_.size()];
      numbers_.clear();
      const auto take = [this](const std::uint64_t*& from, std::size_t count) {
        numbers_.insert(numbers_.end(), from, from + count);
        from += count;
      };
      if (labelled) take(support, e.sizes.shots[place]);
      if (labelled) take(query, e.sizes.queries[place]);
      take(unlabelled, spec_.unlabelled);
      std::sort(numbers_.begin(), numbers_.end());
      for (const std::uint64_t sample : numbers_) {
        if (sample < of.begin || sample - of.begin >= of.count)
          return fmt::format("has sample {} in class {} (\"{}\"), which does not have it", sample, number, of.name);
      }
      if (const auto twice = std::adjacent_find(numbers_.begin(), numbers_.end()); twice != numbers_.end())
        return fmt::format("has sample {} of class {} twice", *twice, number);
    }
    return {};
  }

  const EpisodeSpec& spec_;
  const std::vector<SampleClass>& classes_;
  EpisodeShape shape_;
  bool one_shape_;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace

void demand_fits(const EpisodeList& list, const EpisodeSpec& spec, const std::vector<SampleClass>& classes) {
  Examiner examiner(spec, classes);
  for (std::size_t ordinal = 0; ordinal < list.episodes.size(); ++ordinal) {
    const std::string clause = examiner.look(list.episodes[ordinal]);
    if (!clause.empty()) {
      throw Error(ErrorKind::kData, fmt::format("the episodes in {} cannot be had: episode {} {}; export them again",
                                                list.file, ordinal, clause));
    }
  }
}

}  // namespace feedring
