// SPDX-License-Identifier: Apache-2.0
#include "producers/config/feed_spec.hpp"

namespace feedring {

Config config_for_folder(const std::filesystem::path& folder, std::uint32_t size, Cache cache) {
  FeedSpec feed;
  feed.name = "train";
  feed.data = std::filesystem::absolute(folder).lexically_normal();
  feed.cache = cache;
  if (cache == Cache::kNone) {
    feed.transform = {{{"name", "RandomResizedCrop"}, {"size", size}}, {{"name", "RandomHorizontalFlip"}}};
  } else {
    feed.transform = {{{"name", "Resize"}, {"size", size}}, {{"name", "CenterCrop"}, {"size", size}}};
  }
  Config config;
  config.feeds.push_back(std::move(feed));
  return config;
}

}  // namespace feedring
