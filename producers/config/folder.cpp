// SPDX-License-Identifier: Apache-2.0
#include "producers/config/feed_spec.hpp"

namespace feedring {

Config config_for_folder(const std::filesystem::path& folder, std::uint32_t size) {
  FeedSpec feed;
  feed.name = "train";
  feed.data = std::filesystem::absolute(folder).lexically_normal();
  feed.transform = {{{"name", "RandomResizedCrop"}, {"size", size}}, {{"name", "RandomHorizontalFlip"}}};
  Config config;
  config.feeds.push_back(std::move(feed));
  return config;
}

}  // namespace feedring
