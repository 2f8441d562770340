// SPDX-License-Identifier: Apache-2.0
// How fast episodes are drawn, by themselves: no file is read and no slot written. The aim is 80 million drawn samples
// a second and core, a million episodes of 5 ways, 1 shot and 15 queries.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "producers/plan/episode.hpp"

namespace feedring::bench {
namespace {

std::vector<SampleClass> equal_classes(std::uint64_t classes, std::uint64_t samples) {
  std::vector<SampleClass> all;
  for (std::uint64_t c = 0; c < classes; ++c) all.push_back({"c" + std::to_string(c), c * samples, samples});
  return all;
}

EpisodeSpec five_way(ClassDraw draw) {
  EpisodeSpec spec;  // 5 ways, 1 shot, 15 queries
  spec.classes = draw;
  spec.tasks_per_epoch = 1'000'000;
  return spec;
}

void draw(benchmark::State& state, const EpisodeSpec& spec, std::uint64_t classes, std::uint64_t samples) {
  EpisodeSampler sampler(spec, equal_classes(classes, samples), 0);
  Episode episode;
  std::uint64_t ordinal = 0, drawn = 0;
  for ([[maybe_unused]] auto _ : state) {
    sampler.episode(0, ordinal++ % sampler.tasks_per_epoch(), episode);
    drawn += episode.support.size() + episode.query.size();
    benchmark::DoNotOptimize(episode.query.data());
    benchmark::ClobberMemory();
  }
  state.counters["samples_per_s"] = benchmark::Counter(static_cast<double>(drawn), benchmark::Counter::kIsRate);
  state.SetItemsProcessed(static_cast<std::int64_t>(ordinal));
}

void iid(benchmark::State& state) { draw(state, five_way(ClassDraw::kIid), 64, 600); }
void balanced(benchmark::State& state) { draw(state, five_way(ClassDraw::kBalanced), 64, 600); }
void enumerate(benchmark::State& state) { draw(state, five_way(ClassDraw::kEnumerate), 64, 600); }
void tuple(benchmark::State& state) {
  EpisodeSpec spec = five_way(ClassDraw::kIid);
  spec.binding = SampleBinding::kTuple;
  draw(state, spec, 64, 600);
}
void weighted(benchmark::State& state) {
  EpisodeSpec spec = five_way(ClassDraw::kIid);
  spec.class_weights = {{"c1", 2.0}};
  draw(state, spec, 64, 600);
}
void omniglot_20_way(benchmark::State& state) {
  EpisodeSpec spec = five_way(ClassDraw::kIid);
  spec.ways = {20, 20};
  spec.queries = {5, 5};
  spec.augment = {ClassAugment::kRotate90, ClassAugment::kRotate180, ClassAugment::kRotate270};
  draw(state, spec, 1028, 20);
}
void meta_dataset(benchmark::State& state) {
  EpisodeSpec spec = five_way(ClassDraw::kIid);
  spec.sizes = EpisodeSizes::kMetaDataset;
  spec.ways = {5, 50};
  spec.shots = {100, 100};
  spec.queries = {10, 10};
  draw(state, spec, 712, 1300);
}
BENCHMARK(iid);
BENCHMARK(balanced);
BENCHMARK(enumerate);
BENCHMARK(tuple);
BENCHMARK(weighted);
BENCHMARK(omniglot_20_way);
BENCHMARK(meta_dataset);

}  // namespace
}  // namespace feedring::bench

BENCHMARK_MAIN();
