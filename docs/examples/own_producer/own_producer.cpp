// SPDX-License-Identifier: Apache-2.0
// A producer whose samples are sine waves of a random phase. The pool of feed.toml starts, watches and replaces it:
//   feedring run -c feed.toml --nproc-per-node 2 -- python train.py
#include <cmath>
#include <feedring/producer.hpp>
#include <memory>
#include <random>

namespace {

class Waves : public feedring::Filler {
 public:
  void fill(const feedring::SampleRequest& request, std::span<const feedring::SlotTensor> out) override {
    std::mt19937_64 random(request.random);  // the same numbers whichever producer makes the sample
    const double phase = 6.283185307179586 * static_cast<double>(random() >> 11) * 0x1.0p-53;
    const double cycles = 1.0 + static_cast<double>(request.sample % 10);
    const std::span<float> signal = out[0].as<float>();
    for (std::size_t i = 0; i < signal.size(); ++i) {
      const double angle = 6.283185307179586 * cycles * static_cast<double>(i) / static_cast<double>(signal.size());
      signal[i] = static_cast<float>(std::sin(angle + phase));
    }
    out[1].as<std::int64_t>()[0] = static_cast<std::int64_t>(request.sample % 10);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return feedring::run_producer(argc, argv, [](const feedring::OwnFeed&) { return std::make_unique<Waves>(); });
}
