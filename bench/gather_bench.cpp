// SPDX-License-Identifier: Apache-2.0
// What memory allows a gather of kept pictures: the pictures of an episode of 5 ways, 1 shot and 15 queries (80 of 84
// px, 1.7 MB), drawn from a store of 64 x 600 of them (0.8 GB, far more than any cache), are read only, or copied to
// one place again and again, or to the slots of a ring. Items are episodes.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "producers/transform/copy_kernels.hpp"
#include "runtime/memfd.hpp"

namespace feedring::bench {
namespace {

constexpr std::size_t kPicture = std::size_t{84} * 84 * 3;
constexpr std::size_t kStride = (kPicture + 127) / 64 * 64;
constexpr std::size_t kPictures = std::size_t{64} * 600;
constexpr std::size_t kImages = std::size_t{5} * (1 + 15);
constexpr std::size_t kLine = 64;

// Shared memory, as the store's, each page written once.
const std::uint8_t* store() {
  static const Mapping mapping = [] {
    const UniqueFd memory = create_memfd("feedring-bench", kPictures * kStride);
    Mapping all(memory.get(), Mapping::Access::kReadWrite, kPictures * kStride);
    std::memset(all.data(), 1, all.size());
    return all;
  }();
  return reinterpret_cast<const std::uint8_t*>(mapping.data());
}

template <class Each>
void gather(benchmark::State& state, Each each) {
  const std::uint8_t* const pictures = store();
  std::mt19937 random(7);
  std::vector<const std::uint8_t*> drawn(1000 * kImages);
  for (auto& at : drawn) at = pictures + random() % kPictures * kStride;
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t image = 0; image < kImages; ++image) each(drawn[next + image], image);
    next = (next + kImages) % drawn.size();
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

// One word of each line, from one place at a time: a copy, which reads four places at once, may be faster.
void read_only(benchmark::State& state) {
  std::uint64_t all = 0;
  gather(state, [&](const std::uint8_t* from, std::size_t) {
    for (std::size_t at = 0; at + sizeof all <= kPicture; at += kLine) {
      std::uint64_t word;
      std::memcpy(&word, from + at, sizeof word);
      all ^= word;
    }
  });
  benchmark::DoNotOptimize(all);
}

void copy_to(benchmark::State& state, std::size_t episodes, bool past_caches) {
  std::vector<std::uint8_t> ring(episodes * kImages * kPicture);
  std::size_t episode = 0;
  gather(state, [&](const std::uint8_t* from, std::size_t image) {
    kernels::copy(from, kPicture, ring.data() + (episode * kImages + image) * kPicture, past_caches);
    if (image + 1 == kImages) episode = (episode + 1) % episodes;
  });
}
void one_place(benchmark::State& state) { copy_to(state, 1, false); }
void ring_of_8_in_caches(benchmark::State& state) { copy_to(state, 8, false); }
void ring_of_8_past_caches(benchmark::State& state) { copy_to(state, 8, true); }
BENCHMARK(read_only);
BENCHMARK(one_place);
BENCHMARK(ring_of_8_in_caches);
BENCHMARK(ring_of_8_past_caches);

}  // namespace
}  // namespace feedring::bench

BENCHMARK_MAIN();
