// SPDX-License-Identifier: Apache-2.0
// The resize against Pillow's, in turn in one run and in processor time, and what the last step of a sample costs.
// Counters of the first kind: feedring_us and pillow_us, medians of a call; ratio, the median of the rounds' pillow /
// feedring, and ratio_worst, the smallest. FEEDRING_PILLOW_PYTHON names an interpreter with another Pillow. Of the
// second kind: over_memcpy, bytes read and written in a second over memcpy's of as many in the same round.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "producers/transform/finish.hpp"
#include "producers/transform/resample.hpp"
#include "producers/transform/resample_kernels.hpp"
#include "tests/unit/resample_pillow.hpp"

namespace feedring {
namespace {

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

std::vector<std::uint8_t> noise(std::size_t bytes) {
  std::mt19937 generator(1);
  std::vector<std::uint8_t> values(bytes);
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(generator());
  return values;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void resize_against_pillow(benchmark::State& state, Filter filter) {
  const Size image{static_cast<std::int32_t>(state.range(0)), static_cast<std::int32_t>(state.range(1))};
  const Size target{224, 224};
  const char* const named = std::getenv("FEEDRING_PILLOW_PYTHON");
  static test::PillowResizer pillow(named != nullptr ? named : "/usr/bin/python3");
  if (!pillow.running()) {
    state.SkipWithError(
        "the Python of FEEDRING_PILLOW_PYTHON, else /usr/bin/python3 (package python3-pil), has no Pillow");
    return;
  }
  const std::size_t row = static_cast<std::size_t>(image.width) * 3;
  const std::vector<std::uint8_t> rgb = noise(row * static_cast<std::size_t>(image.height));
  std::vector<std::uint8_t> pixels = rgb;
  pixels.resize(pixels.size() + kSlack);
  std::vector<std::uint8_t> out(std::size_t{224} * 224 * 3);
  Resampler resampler;
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  constexpr int kImages = 20;
  for ([[maybe_unused]] auto _ : state) {
    const double start = cpu_us();
    for (int i = 0; i < kImages; ++i) {
      // One pixel less every other time, so that no call finds the weights of the last, as with random crops.
      const Size source{image.width - i % 2, image.height - i % 2};
      const Box whole{0, 0, source.width, source.height};
      resampler.run({pixels.data(), source, row}, whole, source, target, {0, 0, 224, 224}, filter, false, out.data(),
                    672);
      benchmark::ClobberMemory();
    }
    ours.push_back((cpu_us() - start) / kImages);
    const auto answer = pillow.resize(rgb, image, {0, 0, image.width, image.height}, target, name_of(filter), kImages);
    if (!answer) {
      state.SkipWithError("Pillow gave up");
      return;
    }
    theirs.push_back(answer->cpu_us);
    ratios.push_back(theirs.back() / ours.back());
    state.SetIterationTime(ours.back() / 1e6);
  }
  state.SetLabel(std::string(kernels::instruction_set()) + ", Pillow " + pillow.version());
  state.counters["feedring_us"] = median(ours);
  state.counters["pillow_us"] = median(theirs);
  state.counters["ratio"] = median(ratios);
  state.counters["ratio_worst"] = *std::min_element(ratios.begin(), ratios.end());
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const auto& size : {std::pair(256, 256), std::pair(335, 252), std::pair(500, 375), std::pair(120, 90)}) {
    benchmark->Args({size.first, size.second});
  }
  benchmark->ArgNames({"width", "height"})->Iterations(11)->UseManualTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(resize_against_pillow, bilinear, Filter::kBilinear)->Apply(sizes);
BENCHMARK_CAPTURE(resize_against_pillow, bicubic, Filter::kBicubic)->Apply(sizes);

void finish(benchmark::State& state, Dtype dtype, Layout layout) {
  nlohmann::json steps = nlohmann::json::parse(R"([{"name": "CenterCrop", "size": 224}])");
  if (dtype != Dtype::kUint8) {
    steps.push_back({{"name", "ToDtype"}, {"dtype", "float32"}, {"scale", true}});
    steps.push_back({{"name", "Normalize"}, {"mean", {0.485, 0.456, 0.406}}, {"std", {0.229, 0.224, 0.225}}});
    if (dtype != Dtype::kFloat32) steps.push_back({{"name", "ToDtype"}, {"dtype", std::string(name_of(dtype))}});
  }
  const Finish finish(Chain::parse(steps), dtype, layout);
  const std::vector<std::uint8_t> rgb = noise(std::size_t{224} * 224 * 3 + kSlack);
  // As in a pool: the pixels were just made, and the slots that they go to are larger than the caches together.
  constexpr int kImages = 256;
  std::vector<std::uint8_t> memory(finish.bytes_per_image() * kImages + 64);
  std::uint8_t* out = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  const std::size_t moved = rgb.size() - kSlack + finish.bytes_per_image();  // read and written
  const std::vector<std::uint8_t> from = noise(moved / 2);
  std::vector<std::uint8_t> to(moved / 2 * kImages);
  std::vector<double> ours;
  std::vector<double> ratios;
  for ([[maybe_unused]] auto _ : state) {
    const double start = cpu_us();
    for (int i = 0; i < kImages; ++i) {
      finish.run(rgb.data(), out + finish.bytes_per_image() * static_cast<std::size_t>(i));
      benchmark::ClobberMemory();
    }
    const double between = cpu_us();
    for (int i = 0; i < kImages; ++i) {
      std::memcpy(to.data() + from.size() * static_cast<std::size_t>(i), from.data(), from.size());
      benchmark::ClobberMemory();
    }
    ours.push_back((between - start) / kImages);
    ratios.push_back((cpu_us() - between) / (between - start));
    state.SetIterationTime(ours.back() / 1e6);
  }
  state.counters["feedring_us"] = median(ours);
  state.counters["over_memcpy"] = median(ratios);
  state.counters["over_memcpy_worst"] = *std::min_element(ratios.begin(), ratios.end());
  state.counters["GB_per_s"] = static_cast<double>(moved) / median(ours) / 1e3;
}
void rounds(benchmark::internal::Benchmark* benchmark) {
  benchmark->Iterations(21)->UseManualTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(finish, uint8_planes, Dtype::kUint8, Layout::kNchw)->Apply(rounds);
BENCHMARK_CAPTURE(finish, float32_interleaved, Dtype::kFloat32, Layout::kNhwc)->Apply(rounds);
BENCHMARK_CAPTURE(finish, float32_planes, Dtype::kFloat32, Layout::kNchw)->Apply(rounds);
BENCHMARK_CAPTURE(finish, float16_interleaved, Dtype::kFloat16, Layout::kNhwc)->Apply(rounds);
BENCHMARK_CAPTURE(finish, float16_planes, Dtype::kFloat16, Layout::kNchw)->Apply(rounds);
BENCHMARK_CAPTURE(finish, bfloat16_interleaved, Dtype::kBfloat16, Layout::kNhwc)->Apply(rounds);
BENCHMARK_CAPTURE(finish, bfloat16_planes, Dtype::kBfloat16, Layout::kNchw)->Apply(rounds);

}  // namespace
}  // namespace feedring

BENCHMARK_MAIN();
