// SPDX-License-Identifier: Apache-2.0
// What only a GPU can show, as one JSON object: how fast our slots cross the bus beside memory of CUDA's own, what a
// batch costs the trainer's thread, how fast batches are finished, and a step that is fed beside one on a resident
// batch. Both sides of a ratio run in turn in one process. The pool runs already, with finish = "device" and this
// program's --rows and --side (gpu.sh starts it). On the tests' stand-in for libcudart the figures mean nothing and
// "fake" says so.
#include <dlfcn.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <feedring/cuda.hpp>
#include <feedring/feed.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu_rates.hpp"
#include "bench/gpu_step.hpp"

namespace feedring::bench {
namespace {

double thread_us() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) * 1e-3;
}

class Trainer {
 public:
  Trainer(const Arguments& with, const CudaOptions& cuda_options, const cudart::Runtime& runtime)
      : with_(with), program_(cuda("cuda:0", cuda_options)), step_(runtime, with.step_ms, with.launches) {
    FeedOptions options;
    options.pool = with.pool;
    options.rank = options.local_rank = 0;
    options.world_size = options.local_world_size = 1;
    options.device = cuda("cuda:0", cuda_options);
    options.stream = [this] { return program_->own_stream(); };
    feed_.emplace(Feed::attach(options));
    resident_ = next();
  }

  json measure() {
    // The first batches are staged, until the ring is registered or that is refused.
    for (std::uint64_t before = ~0ULL, staged = 0; staged != before && feed_->device_note().empty();) {
      before = staged;
      run(with_.steps, true);
      staged = feed_->stats().staged;
    }
    const FeedStats before = feed_->stats();
    costs_.clear();
    std::vector<double> ratios, fed, resident;
    for (std::uint32_t round = 0; round < with_.rounds; ++round) {
      resident.push_back(1e3 * run(with_.steps, false));
      fed.push_back(1e3 * run(with_.steps, true));
      ratios.push_back(fed.back() / resident.back());
    }
    const FeedStats after = feed_->stats();
    const double batches = static_cast<double>(after.batches - before.batches);
    return {{"resident_ms", spread(resident)},
            {"fed_ms", spread(fed)},
            {"fed_over_resident", spread(ratios)},
            {"waited_us_per_batch", static_cast<double>(after.wait_ns - before.wait_ns) / 1e3 / batches},
            {"host_cpu_us_per_batch", spread(costs_)},
            {"futex_calls_per_batch", static_cast<double>(after.futex_calls - before.futex_calls) / batches},
            {"staged", after.staged - before.staged},
            {"device_note", feed_->device_note()}};
  }

 private:
  Batch next() {
    for (;;)
      if (auto batch = feed_->next()) return std::move(*batch);  // none at the end of an epoch
  }

  /// Seconds of a step, over `steps` of them. The host is one step ahead at most, as where a loop reads its loss.
  double run(std::uint32_t steps, bool fed) {
    std::shared_ptr<Event> previous;
    const auto begin = Clock::now();
    for (std::uint32_t i = 0; i < steps; ++i) {
      double cost = thread_us();
      std::optional<Batch> batch;
      if (fed) batch = next();
      cost = thread_us() - cost;
      step_.put_on(program_->own_stream());
      cost -= thread_us();
      batch.reset();
      cost += thread_us();
      if (fed) costs_.push_back(cost);
      const auto done = program_->record();
      if (previous && !previous->wait(kLong)) throw Error(ErrorKind::kDeadline, "a step did not end within 60 s");
      previous = done;
    }
    finish_all(*program_);
    return seconds_since(begin) / steps;
  }

  const Arguments& with_;
  std::shared_ptr<Device> program_;
  SpinStep step_;
  std::optional<Feed> feed_;
  std::optional<Batch> resident_;
  std::vector<double> costs_;
};

json measure(const Arguments& with) {
  const CudaOptions options{.runtime = with.runtime};
  const auto device = cuda("cuda:0", options);  // throws where there is none, before anything is read
  const cudart::Runtime& runtime = cudart::load_runtime(with.runtime);
  void* library = ::dlopen(runtime.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) throw Error(ErrorKind::kInternal, runtime.path + " is not loaded any more");
  json result{{"fake", ::dlsym(library, "fake_cudart_count") != nullptr},
              {"runtime", {{"path", runtime.path}, {"version", runtime.version}}},
              {"rows", with.rows},
              {"side", with.side},
              {"step", {{"kind", "kernels that spin"}, {"ms", with.step_ms}, {"launches", with.launches}}}};
  const double uint8 = static_cast<double>(used_bytes(ring_of(with, Dtype::kUint8, Layout::kNhwc)));
  const double float32 = static_cast<double>(used_bytes(ring_of(with, Dtype::kFloat32, Layout::kNchw)));
  result["bytes_over_the_bus"] = {{"uint8", uint8}, {"float32", float32}, {"float32_over_uint8", float32 / uint8}};
  result["host_to_device"] = host_to_device(*device, library, with);
  result["finish_gb_per_s"] = {{"float32_nchw", finish_rate(*device, with, 4, true)},
                               {"float16_nhwc", finish_rate(*device, with, 2, false)}};
  result["steps"] = Trainer(with, options, runtime).measure();
  return result;
}

}  // namespace
}  // namespace feedring::bench

int main(int argc, char** argv) {
  feedring::bench::Arguments with;
  CLI::App app("What only a GPU can show.");
  app.add_option("--pool", with.pool, "Address of the pool")->required();
  app.add_option("--runtime", with.runtime, "Path of libcudart; empty: the system's");
  app.add_option("--out", with.out, "File for the JSON object")->required();
  app.add_option("--rows", with.rows)->check(CLI::Range(1, 65536));
  app.add_option("--side", with.side)->check(CLI::Range(1, 4096));
  app.add_option("--rounds", with.rounds)->check(CLI::Range(1, 1000));
  app.add_option("--steps", with.steps)->check(CLI::Range(1, 100000));
  app.add_option("--copies", with.copies)->check(CLI::Range(1, 100000));
  app.add_option("--launches", with.launches)->check(CLI::Range(1, 100000));
  app.add_option("--step-ms", with.step_ms)->check(CLI::Range(0.001, 60000.0));
  CLI11_PARSE(app, argc, argv);
  try {
    std::ofstream out(with.out);
    out << feedring::bench::measure(with).dump(2) << '\n';
    if (!out.flush()) throw feedring::Error(feedring::ErrorKind::kInternal, with.out + " could not be written");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return feedring::why_no_cuda({.runtime = with.runtime}).empty() ? 1 : 77;
  }
  return 0;
}
