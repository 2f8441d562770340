// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/toy_tasks.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include "producers/plan/draw.hpp"

namespace feedring {
namespace {

using std::numbers::pi;

double between(Draw& draw, double low, double high) noexcept { return low + (high - low) * draw.uniform(); }

// Box and Muller, "A note on the generation of random normal deviates", 1958.
double normal(Draw& draw) noexcept {
  const double radius = std::sqrt(-2 * std::log1p(-draw.uniform()));
  return radius * std::cos(2 * pi * draw.uniform());
}

struct Task {
  std::function<double(Draw&)> point;
  std::function<double(double)> value;
};

Task sinusoid(Draw& draw) {
  const double amplitude = between(draw, 0.1, 5);
  const double phase = between(draw, 0, pi);
  return {[](Draw& points) { return between(points, -5, 5); },
          [=](double x) { return amplitude * std::sin(x - phase); }};
}

Task line(Draw& draw) {
  const double slope = between(draw, -3, 3);
  const double intercept = between(draw, -3, 3);
  return {[](Draw& points) { return between(points, -5, 5); }, [=](double x) { return intercept + slope * x; }};
}

Task harmonic(Draw& draw) {
  const double centre = between(draw, -4, 4);
  const double frequency = between(draw, 5, 7);
  const double phase = between(draw, 0, 2 * pi);
  const double phase2 = between(draw, 0, 2 * pi);
  const double amplitude = normal(draw);
  const double amplitude2 = normal(draw);
  return {[=](Draw& points) { return centre + normal(points); },
          [=](double x) {
            return amplitude * std::sin(frequency * x + phase) + amplitude2 * std::sin(2 * frequency * x + phase2);
          }};
}

Task task_of(Tasks kind, Draw draw) {
  if (kind == Tasks::kHarmonic) return harmonic(draw);
  if (kind == Tasks::kSinusoidAndLine && draw.below(2) == 0) return line(draw);
  return sinusoid(draw);
}

class ToyTasks : public Filler {
 public:
  explicit ToyTasks(const TasksSpec& spec) : spec_(spec) {}

  void fill(const SampleRequest& request, std::span<const SlotTensor> out) override {
    const Task task = task_of(spec_.kind, Draw(spec_.seed, 0, request.sample, Stream::kTasks));
    Draw points(request.random, request.epoch, request.ordinal, Stream::kTasks, 1);
    for (std::size_t part = 0; part + 1 < out.size(); part += 2) {
      if (out[part].spec.dtype == Dtype::kFloat64) {
        write<double>(task, points, out[part], out[part + 1]);
      } else {
        write<float>(task, points, out[part], out[part + 1]);
      }
    }
  }

 private:
  template <class Number>
  void write(const Task& task, Draw& points, const SlotTensor& inputs, const SlotTensor& targets) const {
    const std::span<Number> x = inputs.as<Number>();
    const std::span<Number> y = targets.as<Number>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double input = task.point(points);
      const double noise = spec_.noise_std > 0 ? spec_.noise_std * normal(points) : 0;
      x[i] = static_cast<Number>(input);
      y[i] = static_cast<Number>(task.value(input) + noise);
    }
  }

  TasksSpec spec_;
};

}  // namespace

std::unique_ptr<Filler> make_toy_tasks(const TasksSpec& spec) { return std::make_unique<ToyTasks>(spec); }

}  // namespace feedring
