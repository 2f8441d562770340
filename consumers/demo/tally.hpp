// SPDX-License-Identifier: Apache-2.0
// What a pass over a feed did, on one rank or on all of them together.
#pragma once

#include <torch/torch.h>

#include <chrono>
#include <cstdint>

#include "consumers/demo/batches.hpp"
#include "consumers/demo/collective.hpp"

namespace feedring::demo {

/// Seconds since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Tally {
  double loss = 0;     ///< sum over samples
  double correct = 0;  ///< samples
  double samples = 0;
  double seconds = 0;  ///< of all ranks together, once shared
  double waited = 0;   ///< of `seconds`, those spent in Feed::next()
  at::Tensor seen;     ///< how often each sample of the data set came, int32

  explicit Tally(std::int64_t data_set) : seen(at::zeros({data_set}, at::kInt)) {}

  /// `losses` and `scores`: of each row of the batch.
  void count(const Batch& batch, const at::Tensor& losses, const at::Tensor& scores) {
    loss += losses.mul(batch.valid).sum().item<double>();
    correct += scores.argmax(1).eq(batch.labels).logical_and_(batch.valid).sum().item<double>();
    samples += batch.valid.sum().item<double>();
    seen.index_add_(0, batch.sample_ids, at::ones({batch.sample_ids.numel()}, at::kInt));
  }

  /// Turns the counts of one rank into those of all.
  void share(Ranks& ranks) {
    auto numbers = at::tensor({loss, correct, samples, seconds, waited}, at::kDouble);
    ranks.sum(numbers);
    const double* sum = numbers.data_ptr<double>();
    loss = sum[0], correct = sum[1], samples = sum[2], seconds = sum[3], waited = sum[4];
    ranks.sum(seen);
  }

  [[nodiscard]] bool saw_each_sample_once() const { return seen.eq(1).all().item<bool>(); }
};

}  // namespace feedring::demo
