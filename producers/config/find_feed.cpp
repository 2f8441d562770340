// SPDX-License-Identifier: Apache-2.0
#include "producers/config/find_feed.hpp"

#include <algorithm>
#include <feedring/error.hpp>
#include <string_view>
#include <vector>

#include "producers/config/suggest.hpp"

namespace feedring {

std::size_t find_feed(const std::string& name, const Config& config, const std::string& file) {
  const std::vector<FeedSpec>& feeds = config.feeds;
  const auto found = std::find_if(feeds.begin(), feeds.end(), [&](const FeedSpec& f) { return f.name == name; });
  if (found == feeds.end()) {
    std::vector<std::string_view> names;
    for (const FeedSpec& feed : feeds) names.push_back(feed.name);
    throw Error(ErrorKind::kUsage, "there is no feed \"" + name + "\" in " +
                                       (file.empty() ? "a plain folder, whose one feed is \"train\"" : file) +
                                       did_you_mean(name, names));
  }
  return static_cast<std::size_t>(found - feeds.begin());
}

}  // namespace feedring
