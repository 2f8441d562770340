// SPDX-License-Identifier: Apache-2.0
// One epoch of a feed, counted. Start it by
//   feedring run --data photos/ --nproc-per-node 2 -- ./hello_feed
// or under any launcher, with a configuration: feedring run -c feed.toml -- torchrun … ./hello_feed
#include <cstdint>
#include <cstdio>
#include <feedring/feed.hpp>

int main() {
  try {
    auto feed = feedring::Feed::attach({.name = "train"});
    std::uint64_t images = 0;
    std::uint64_t brightness = 0;
    std::uint64_t bytes = 0;
    for (feedring::Batch& batch : feed) {
      for (const std::uint8_t valid : batch.valid()) images += valid;
      const feedring::TensorView pixels = batch.images();  // (B, 3, H, W), in shared memory
      for (const std::uint8_t value : pixels.as<std::uint8_t>()) brightness += value;
      bytes += pixels.bytes;
    }  // each batch gives its slot back here
    std::printf("rank %u of %u: %llu images, mean brightness %.1f\n", feed.rank(), feed.world_size(),
                static_cast<unsigned long long>(images),
                bytes == 0 ? 0.0 : static_cast<double>(brightness) / static_cast<double>(bytes));
  } catch (const feedring::Error& error) {
    std::fprintf(stderr, "hello_feed: %s\n", error.what());
    return feedring::exit_code(error.kind());
  }
}
