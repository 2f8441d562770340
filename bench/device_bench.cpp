// SPDX-License-Identifier: Apache-2.0
// What a batch costs the trainer's own thread: next() and letting go, in CPU time, for each kind of device in turn, so
// that their ratios are of one run. Between two batches the thread sleeps, so that the next one is ready and no wait is
// counted.
//
//   at_once     the host reads the slots: no copy
//   host        the host that plays a GPU: a copy by another thread, ordered on a stream of the program's
//   fake_cuda   CUDA's code on the tests' stand-in for libcudart: our part, and the stand-in's locks; not NVIDIA's part
//   gpu         CUDA, where there is a GPU
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <feedring/cuda.hpp>
#include <feedring/feed.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/test_pool.hpp"

namespace feedring::bench {
namespace {

double thread_us() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) * 1e-3;
}

test::PoolSetting large_batches() {
  test::PoolSetting setting;
  setting.samples = 64000;
  setting.batch = 64;
  setting.slots = 4;
  return setting;
}

class Contender {
 public:
  Contender(std::string name, std::shared_ptr<Device> device, std::shared_ptr<Device> program)
      : name_(std::move(name)), program_(std::move(program)), pool_(large_batches()), feed_(attach(std::move(device))) {
    for (int i = 0; i < 50; ++i) (void)take();
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  void measure() { costs_.push_back(take()); }
  [[nodiscard]] double median() {
    std::nth_element(costs_.begin(), costs_.begin() + static_cast<std::ptrdiff_t>(costs_.size() / 2), costs_.end());
    return costs_[costs_.size() / 2];
  }

 private:
  Feed attach(std::shared_ptr<Device> device) {
    pool_.start(1);
    FeedOptions options = pool_.options();
    options.device = std::move(device);
    if (program_) options.stream = [this] { return program_->own_stream(); };
    return Feed::attach(options);
  }
  double take() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const double before = thread_us();
    if (auto batch = feed_.next()) batch->release();
    return thread_us() - before;
  }

  std::string name_;
  std::shared_ptr<Device> program_;
  test::TestPool pool_;
  Feed feed_;
  std::vector<double> costs_;
};

void cpu_per_batch(benchmark::State& state) {
  std::vector<std::unique_ptr<Contender>> all;
  const HostDeviceOptions late{.delay = std::chrono::microseconds(200), .copies = true};
  const CudaOptions fake{.runtime = FEEDRING_FAKE_CUDART};
  all.push_back(std::make_unique<Contender>("at_once", host_device(), nullptr));
  all.push_back(std::make_unique<Contender>("host", host_device(late), host_device(late)));
  all.push_back(std::make_unique<Contender>("fake_cuda", cuda("cuda:0", fake), cuda("cuda:0", fake)));
  if (why_no_cuda().empty()) all.push_back(std::make_unique<Contender>("gpu", cuda("cuda:0"), cuda("cuda:0")));
  for ([[maybe_unused]] auto _ : state) {
    for (const auto& each : all) each->measure();
  }
  const double at_once = all.front()->median();
  for (const auto& each : all) {
    state.counters["us." + each->name()] = each->median();
    state.counters["over_at_once." + each->name()] = each->median() / at_once;
  }
}
BENCHMARK(cpu_per_batch)->Iterations(400)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace feedring::bench

BENCHMARK_MAIN();
