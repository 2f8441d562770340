// SPDX-License-Identifier: Apache-2.0
// A data-parallel trainer in LibTorch, fed by feedring: what a user's program looks like, and a test of the whole path.
// Every rank takes its batches from its own rings, averages gradients with the others, and all count together what they
// saw. Exit status 1 if the loss did not fall, or if a finished epoch did not bring every sample exactly once.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>

#include "consumers/demo/batches.hpp"
#include "consumers/demo/collective.hpp"
#include "consumers/demo/model.hpp"
#include "consumers/demo/options.hpp"
#include "consumers/demo/tally.hpp"

namespace feedring::demo {
namespace {

class Trainer {
 public:
  Trainer(const Options& options, Ranks& ranks)
      : options_(options),
        ranks_(ranks),
        train_(options.train),
        net_(train_.classes()),
        parameters_(net_->parameters()),
        adam_(parameters_, torch::optim::AdamOptions(options.learning_rate)) {
    if (!options.val.empty()) val_.emplace(options.val);
  }

  /// Exit status.
  int run() {
    for (int epoch = 0; epoch < options_.epochs && !stopped_; ++epoch) {
      const Stopwatch wall;
      Tally trained = train_epoch(epoch);
      trained.share(ranks_);
      const double seconds = wall.seconds();
      pictures_ += trained.samples;
      accuracy_ = trained.correct / trained.samples;
      if (!stopped_) {
        ++whole_epochs_;
        exact_ = exact_ && trained.saw_each_sample_once();
      }
      say("epoch %d/%d  loss %.3f  accuracy %4.1f %%", epoch + 1, options_.epochs, trained.loss / trained.samples,
          100 * accuracy_);
      if (val_) {
        Tally measured = validate();
        measured.share(ranks_);
        exact_ = exact_ && measured.saw_each_sample_once();
        accuracy_ = measured.correct / measured.samples;
        say("  on other pictures %4.1f %%", 100 * accuracy_);
      }
      say("  %5.0f images/s  waited for data %.1f %%\n", trained.samples / seconds,
          100 * trained.waited / trained.seconds);
    }
    return conclude();
  }

 private:
  Tally train_epoch(int epoch) {
    Tally tally(train_.samples());
    const Stopwatch watch;
    net_->train();
    for (std::int64_t step = 0; !stopped_; ++step) {
      auto batch = next(train_, tally);
      if (!batch) break;
      const auto input = to_input(batch->images);
      batch->images.reset();  // gives the slot back to the producers before the work begins
      const auto scores = net_->forward(input);
      const auto losses = losses_of(scores, batch->labels);
      const auto loss = losses.mul(batch->valid).sum() / batch->valid.sum().clamp_min(1);
      adam_.zero_grad();
      loss.backward();
      average_gradients();
      set_learning_rate(epoch * train_.steps() + step);
      adam_.step();
      losses_.push_back(loss.item<float>());
      tally.count(*batch, losses.detach(), scores);
      show_progress(epoch, step);
    }
    tally.seconds = watch.seconds();
    return tally;
  }

  Tally validate() {
    const torch::NoGradGuard no_gradients;
    Tally tally(val_->samples());
    net_->eval();
    while (auto batch = next(*val_, tally)) {
      const auto scores = net_->forward(to_input(batch->images));
      const auto losses = losses_of(scores, batch->labels);
      tally.count(*batch, losses, scores);
    }
    return tally;
  }

  static at::Tensor losses_of(const at::Tensor& scores, const at::Tensor& labels) {
    return at::cross_entropy_loss(scores, labels, {}, at::Reduction::None);
  }

  static std::optional<Batch> next(Batches& batches, Tally& tally) {
    const Stopwatch watch;
    auto batch = batches.next();
    tally.waited += watch.seconds();
    return batch;
  }

  /// One message a step carries all gradients, and each rank's wish to stop: so all stop after the same step.
  void average_gradients() {
    const float enough = clock_.seconds() > options_.seconds ? 1 : 0;
    const auto message = at::cat({flat_gradients(parameters_), at::full({1}, enough)});
    ranks_.sum(message);
    set_gradients(parameters_, message / ranks_.world());
    stopped_ = message[-1].item<float>() > 0;
  }

  void set_learning_rate(std::int64_t step) {
    const double done = static_cast<double>(step) / static_cast<double>(options_.epochs * train_.steps());
    const double factor = std::min(10 * done + 0.01, (1 - done) / 0.9);
    static_cast<torch::optim::AdamOptions&>(adam_.param_groups()[0].options()).lr(options_.learning_rate * factor);
  }

  void show_progress(int epoch, std::int64_t step) const {
    if (isatty(STDOUT_FILENO) == 0) return;
    say("epoch %d/%d  step %ld/%ld  loss %.3f\r", epoch + 1, options_.epochs, static_cast<long>(step + 1),
        static_cast<long>(train_.steps()), losses_.back());
  }

  /// Mean loss over the first or the last steps, of all ranks.
  double mean_loss(bool last) {
    const auto count = static_cast<std::ptrdiff_t>(std::min<std::size_t>(20, losses_.size() / 2 + 1));
    const auto from = last ? losses_.end() - count : losses_.begin();
    auto mean = at::full({1}, std::accumulate(from, from + count, 0.0) / static_cast<double>(count), at::kDouble);
    ranks_.sum(mean);
    return mean.item<double>() / ranks_.world();
  }

  int conclude() {
    if (losses_.empty()) {
      std::fprintf(stderr, "feedring-demo: the feed '%s' gave no batch\n", options_.train.c_str());
      return 1;
    }
    const double first = mean_loss(false);
    const double last = mean_loss(true);
    say("%d ranks, %.0f pictures in %.1f s: loss %.3f -> %.3f, accuracy %.1f %%, ", ranks_.world(), pictures_,
        clock_.seconds(), first, last, 100 * accuracy_);
    if (whole_epochs_ == 0) {
      say("no epoch was finished\n");
    } else {
      say("each sample %sseen exactly once in each of %d epochs\n", exact_ ? "" : "NOT ", whole_epochs_);
    }
    return exact_ && last < first ? 0 : 1;
  }

  /// Rank 0 speaks for all.
  template <class... Values>
  void say(const char* format, Values... values) const {
    if (ranks_.rank() != 0) return;
    std::printf(format, values...);
    std::fflush(stdout);
  }

  const Options& options_;
  Ranks& ranks_;
  Batches train_;
  std::optional<Batches> val_;
  Net net_;
  std::vector<at::Tensor> parameters_;
  torch::optim::Adam adam_;
  std::vector<float> losses_;  ///< of each step, on this rank
  Stopwatch clock_;
  bool stopped_ = false;
  int whole_epochs_ = 0;
  bool exact_ = true;    ///< in whole epochs every sample came exactly once
  double pictures_ = 0;  ///< trained on, by all ranks
  double accuracy_ = 0;  ///< on the pictures of the val feed, where there is one
};

int main_or_throw(int argc, char** argv) {
  int status = 0;
  const auto options = parse_options(argc, argv, status);
  if (!options) return status;
  at::set_num_threads(1);  // a rank per core: more threads would only take the producers' cores
  torch::manual_seed(0);   // all ranks start from the same weights
  Ranks ranks;
  return Trainer(*options, ranks).run();
}

}  // namespace
}  // namespace feedring::demo

int main(int argc, char** argv) {
  try {
    return feedring::demo::main_or_throw(argc, argv);
  } catch (const feedring::Error& error) {
    std::fprintf(stderr, "feedring-demo: %s\n", error.what());
    return feedring::exit_code(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedring-demo: %s\n", error.what());
    return 1;
  }
}
