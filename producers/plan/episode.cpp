// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/episode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <numeric>

namespace feedring {
namespace {

constexpr std::uint64_t kDefaultTasks = 1000;
// A set of classes has its samples in all epochs and at all ordinals.
constexpr std::uint64_t kNoEpoch = ~std::uint64_t{0};

}  // namespace

EpisodeSampler::EpisodeSampler(EpisodeSpec spec, const std::vector<SampleClass>& classes, std::uint64_t seed)
    : spec_(std::move(spec)),
      pool_(spec_.list ? ClassPool() : ClassPool(spec_, classes)),
      seed_(seed),
      tasks_(spec_.tasks_per_epoch.value_or(kDefaultTasks)) {
  if (spec_.list) {
    take_list(classes);
    return;
  }
  for (const std::uint32_t number : pool_.members()) {
    const SampleClass& from = classes[number % classes.size()];
    members_.push_back({from.begin, static_cast<std::uint32_t>(from.count), number});
  }
  if (pool_.sources().size() > 1) {
    std::vector<double> weights;
    for (const ClassPool::Source& source : pool_.sources()) weights.push_back(source.weight);
    sources_.emplace(whole_weights(weights));
  }
  if (!pool_.weights().empty()) weighted_.emplace(whole_weights(pool_.weights()));
  if (spec_.classes != ClassDraw::kIid) plan_sets();
}

void EpisodeSampler::take_list(const std::vector<SampleClass>& classes) {
  demand_fits(*spec_.list, spec_, classes);
  tasks_ = spec_.list->episodes.size();
  for (std::size_t number = 0; number < classes.size() * (spec_.augment.size() + 1); ++number) {
    const SampleClass& from = classes[number % classes.size()];
    members_.push_back({from.begin, static_cast<std::uint32_t>(from.count), static_cast<std::uint32_t>(number)});
  }
}

void EpisodeSampler::plan_sets() {
  const std::uint64_t classes = members_.size();
  const std::uint32_t ways = spec_.ways.high;
  if (spec_.classes == ClassDraw::kBalanced) {
    if (classes % ways != 0 && classes < 2 * std::uint64_t{ways}) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("classes = \"balanced\" cannot give each of {} classes its turn with ways = {}: ways must "
                      "divide the number of classes, or be at most half of it ({})",
                      classes, ways, classes / 2));
    }
    if (tasks_ > kNoEpoch / ways)
      throw Error(ErrorKind::kUsage, fmt::format("tasks_per_epoch = {} is too large for ways = {}", tasks_, ways));
    balanced_.emplace(static_cast<std::uint32_t>(classes), ways);
    return;
  }
  const std::optional<Wide> sets = count_subsets(classes, ways);
  if (!sets) {
    throw Error(ErrorKind::kUsage,
                fmt::format("classes = \"enumerate\" has about {:.2e} sets of {} out of {} classes, more than the "
                            "2^127 that can be told apart: choose \"iid\" or \"balanced\"",
                            about_subsets(classes, ways), ways, classes));
  }
  sets_ = *sets;
  if (!spec_.tasks_per_epoch) {
    if (sets_ > (Wide{1} << 62)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("classes = \"enumerate\" has {} sets of {} out of {} classes, more than an epoch can "
                              "have: say with tasks_per_epoch how many of them it takes",
                              sets_, ways, classes));
    }
    tasks_ = static_cast<std::uint64_t>(sets_);
  }
  if (tasks_ > sets_) {
    throw Error(ErrorKind::kUsage,
                fmt::format("tasks_per_epoch = {} is more than the {} sets of {} out of {} classes, and classes = "
                            "\"enumerate\" has each once: lower it, or leave it out",
                            tasks_, sets_, ways, classes));
  }
}

void EpisodeSampler::draw_iid(SmallDraw& draw, SmallDraw& sizes) {
  std::uint32_t source = 0;
  if (sources_) {
    source = sources_->take(draw.words(), 0, static_cast<std::uint32_t>(pool_.sources().size()));
    sources_->put_back(source);
  }
  const ClassPool::Source& from = pool_.sources()[source];
  const std::uint32_t groups = from.end - from.begin;
  const ClassPool::Group& group = pool_.groups()[from.begin + (groups > 1 ? draw.below(groups) : 0)];
  std::uint32_t ways = spec_.ways.high;
  if (spec_.ways.varies())
    ways = sizes.between(spec_.ways.low, std::min(spec_.ways.high, group.size() - spec_.distractors));
  places_.resize(ways + spec_.distractors);
  if (!weighted_) {
    sample_draw_(group.size(), draw, places_);
    for (std::uint32_t& place : places_) place += group.begin;
    return;
  }
  for (std::uint32_t& place : places_) place = weighted_->take(draw.words(), group.begin, group.end);
  for (const std::uint32_t place : places_) weighted_->put_back(place);
}

void EpisodeSampler::draw_set(std::uint64_t epoch, std::uint64_t ordinal, SmallDraw& draw) {
  if (!set_order_ || set_order_->epoch != epoch)
    set_order_.emplace(SetOrder{epoch, WidePermutation(sets_, Draw(seed_, epoch, 0, Stream::kOrder))});
  drawn_.resize(spec_.ways.high);
  unrank_subset(set_order_->order(ordinal), static_cast<std::uint32_t>(members_.size()), drawn_);
  // In random order: a label map that goes by place must not favour low numbers.
  places_.resize(spec_.ways.high);
  sample_draw_(spec_.ways.high, draw, places_);
  for (std::uint32_t& place : places_) place = drawn_[place];
}

void EpisodeSampler::draw_classes(std::uint64_t epoch, std::uint64_t ordinal, SmallDraw& sizes) {
  if (spec_.classes == ClassDraw::kBalanced) {
    places_.resize(spec_.ways.high);
    return (*balanced_)(seed_, epoch, ordinal, places_);
  }
  SmallDraw draw(Draw(seed_, epoch, ordinal, Stream::kClasses));
  if (spec_.classes == ClassDraw::kEnumerate) return draw_set(epoch, ordinal, draw);
  draw_iid(draw, sizes);
}

void EpisodeSampler::draw_labels(std::uint64_t epoch, std::uint64_t ordinal, Episode& episode) {
  const std::vector<std::uint32_t>& classes = episode.classes;
  episode.labels.resize(classes.size());
  switch (spec_.labels) {
    case LabelMap::kIdentity: std::iota(episode.labels.begin(), episode.labels.end(), 0U); break;
    case LabelMap::kSorted:
      for (std::size_t j = 0; j < classes.size(); ++j)
        episode.labels[j] = static_cast<std::uint32_t>(
            std::count_if(classes.begin(), classes.end(), [&](std::uint32_t other) { return other < classes[j]; }));
      break;
    case LabelMap::kRandom: {
      SmallDraw draw(Draw(seed_, epoch, ordinal, Stream::kLabels));
      sample_draw_(static_cast<std::uint32_t>(classes.size()), draw, episode.labels);
      break;
    }
  }
}

// The samples of a set of classes depend on which they are, not on their order: each has the lane of its rank.
void EpisodeSampler::order_places() {
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t place : places_) numbers.push_back(members_[place].number);
  std::sort(numbers.begin(), numbers.end());
  by_class_.clear();
  for (const std::uint32_t place : places_) {
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), members_[place].number);
    by_class_.push_back(static_cast<std::uint32_t>(at - numbers.begin()));
  }
  set_key_ = numbers.size();
  for (const std::uint32_t number : numbers) set_key_ = Draw(seed_, number, set_key_, Stream::kMembers).bits();
}

SmallDraw EpisodeSampler::member_draw(std::uint64_t epoch, std::uint64_t ordinal, std::uint32_t place) const {
  if (spec_.binding == SampleBinding::kFresh)
    return SmallDraw(Draw(seed_, epoch, ordinal, Stream::kMembers, 1 + std::uint64_t{place}));
  return SmallDraw(Draw(seed_, kNoEpoch, set_key_, Stream::kMembers, 1 + std::uint64_t{by_class_[place]}));
}

void EpisodeSampler::draw_members(std::uint64_t epoch, std::uint64_t ordinal, Episode& episode) {
  const ClassSizes& sizes = episode.sizes;
  const auto total = [](const std::vector<std::uint32_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  };
  episode.support.resize(total(sizes.shots));
  episode.query.resize(total(sizes.queries));
  episode.unlabelled.resize(places_.size() * spec_.unlabelled);
  std::uint64_t* support = episode.support.data();
  std::uint64_t* query = episode.query.data();
  std::uint64_t* unlabelled = episode.unlabelled.data();
  const auto ways = static_cast<std::uint32_t>(episode.classes.size());
  for (std::uint32_t place = 0; place < places_.size(); ++place) {
    const Member& member = members_[places_[place]];
    const std::uint32_t shots = place < ways ? sizes.shots[place] : 0;
    const std::uint32_t queries = place < ways ? sizes.queries[place] : 0;
    drawn_.resize(std::size_t{shots} + queries + spec_.unlabelled);
    SmallDraw draw = member_draw(epoch, ordinal, place);
    sample_draw_(member.count, draw, drawn_);
    const std::uint32_t* next = drawn_.data();
    for (std::uint32_t i = 0; i < shots; ++i) *support++ = member.begin + *next++;
    for (std::uint32_t i = 0; i < queries; ++i) *query++ = member.begin + *next++;
    for (std::uint32_t i = 0; i < spec_.unlabelled; ++i) *unlabelled++ = member.begin + *next++;
  }
}

void EpisodeSampler::episode(std::uint64_t epoch, std::uint64_t ordinal, Episode& episode) {
  if (spec_.list) {
    episode = spec_.list->episodes[ordinal];
    return;
  }
  epoch = drawn_epoch(epoch);
  SmallDraw sizes(Draw(seed_, epoch, ordinal, Stream::kSizes));
  draw_classes(epoch, ordinal, sizes);
  const std::size_t ways = places_.size() - spec_.distractors;
  episode.classes.clear();
  episode.distractors.clear();
  drawn_.clear();
  for (std::size_t place = 0; place < places_.size(); ++place) {
    const Member& member = members_[places_[place]];
    (place < ways ? episode.classes : episode.distractors).push_back(member.number);
    if (place < ways) drawn_.push_back(member.count);
  }
  draw_sizes(spec_, drawn_, sizes, episode.sizes);
  draw_labels(epoch, ordinal, episode);
  if (spec_.binding == SampleBinding::kTuple) order_places();
  draw_members(epoch, ordinal, episode);
}

std::optional<std::uint64_t> EpisodeSampler::substitute(std::uint64_t epoch, std::uint64_t ordinal, std::uint32_t place,
                                                        std::uint32_t row, std::uint64_t attempt) {
  if (spec_.list) return substitute_listed(ordinal, place, row, attempt);
  Episode held;
  episode(epoch, ordinal, held);
  const Member& member = members_[places_[place]];
  std::uint32_t taken = spec_.unlabelled;
  if (place < held.classes.size()) taken += held.sizes.shots[place] + held.sizes.queries[place];
  const std::uint32_t others = member.count - taken;
  if (attempt >= others) return std::nullopt;
  // The order of the class's samples goes on behind those that the episode holds; rows start at different ones.
  const auto behind = static_cast<std::uint32_t>((row + attempt) % others);
  drawn_.resize(std::size_t{taken} + behind + 1);
  SmallDraw draw = member_draw(drawn_epoch(epoch), ordinal, place);
  sample_draw_(member.count, draw, drawn_);
  return member.begin + drawn_.back();
}

std::optional<std::uint64_t> EpisodeSampler::substitute_listed(std::uint64_t ordinal, std::uint32_t place,
                                                               std::uint32_t row, std::uint64_t attempt) const {
  const Episode& e = spec_.list->episodes[ordinal];
  const bool labelled = place < e.classes.size();
  const Member& member = members_[labelled ? e.classes[place] : e.distractors[place - e.classes.size()]];
  // A class and its own rotation have the same samples: what either holds is left out.
  std::vector<std::uint64_t> others;
  const auto held = [&e](std::uint64_t sample) {
    const auto in = [sample](const std::vector<std::uint64_t>& of) {
      return std::find(of.begin(), of.end(), sample) != of.end();
    };
    return in(e.support) || in(e.query) || in(e.unlabelled);
  };
  for (std::uint64_t sample = member.begin; sample < member.begin + member.count; ++sample)
    if (!held(sample)) others.push_back(sample);
  if (attempt >= others.size()) return std::nullopt;
  return others[(row + attempt) % others.size()];
}

}  // namespace feedring
