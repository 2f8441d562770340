// SPDX-License-Identifier: Apache-2.0
// A producer of the suite's own: it fills what tests can work out, and fails as the feed's options say.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <feedring/producer.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace {

class Numbers : public feedring::Filler {
 public:
  explicit Numbers(const feedring::OwnFeed& feed) : options_(nlohmann::json::parse(feed.options)) {
    const std::string attached(reinterpret_cast<const char*>(feed.attachment.data()), feed.attachment.size());
    if (attached != options_.value("attached", "")) throw std::runtime_error("attached is \"" + attached + "\"");
    if (options_.value("refuse", false)) throw std::runtime_error("the feed " + feed.name + " is not to my liking");
    std::this_thread::sleep_for(std::chrono::milliseconds(options_.value("open_ms", 0)));
  }

  // labels: the sample; numbers: 1000 * sample + i, but the last one, which is left as it was found; random: as given.
  void fill(const feedring::SampleRequest& request, std::span<const feedring::SlotTensor> out) override {
    const auto sample = static_cast<std::int64_t>(request.sample);
    if (sample == options_.value("throws_at", -1)) throw std::runtime_error("no such thing");
    if (sample == options_.value("throws_int_at", -1)) throw 7;
    if (sample == options_.value("aborts_at", -1)) std::abort();
    if (sample == options_.value("sleeps_at", -1)) std::this_thread::sleep_for(std::chrono::hours(1));
    for (const feedring::SlotTensor& tensor : out) {
      if (tensor.spec.name == "labels") tensor.as<std::int64_t>()[0] = sample;
      if (tensor.spec.name == "random") tensor.as<std::int64_t>()[0] = static_cast<std::int64_t>(request.random);
      if (tensor.spec.name != "images") continue;
      const std::span<std::int32_t> numbers = tensor.as<std::int32_t>();
      for (std::size_t i = 0; i + 1 < numbers.size(); ++i)
        numbers[i] = static_cast<std::int32_t>(1000 * sample + static_cast<std::int64_t>(i));
    }
  }

 private:
  nlohmann::json options_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 6 ? argv[1] : "";
  if (mode == "never-ready") std::this_thread::sleep_for(std::chrono::hours(1));
  if (mode == "ends") return 3;
  if (mode == "images-only") return feedring::run_producer(argc, argv, nullptr);
  return feedring::run_producer(argc, argv,
                                [](const feedring::OwnFeed& feed) { return std::make_unique<Numbers>(feed); });
}
