// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/feed_choice.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <feedring/error.hpp>
#include <filesystem>
#include <string_view>
#include <vector>

#include "producers/config/suggest.hpp"

namespace feedring::cli {

void add_feed_options(CLI::App& command, FeedChoice& choice) {
  command.add_option("DIR", choice.data, "Folder of images (one folder per class, or flat), or a manifest");
  command.add_option("-c,--config", choice.config, "Configuration file, in the place of DIR")->type_name("FILE");
  command.add_option("--feed", choice.feed, "Feed of the configuration (default: its first)")->type_name("NAME");
}

ChosenFeed resolve_feed(const FeedChoice& choice, std::uint32_t size) {
  const auto fail = [](const std::string& sentence) { throw Error(ErrorKind::kUsage, sentence); };
  std::string file = choice.config;
  if (!choice.data.empty() && !file.empty()) {
    fail("both a folder (" + choice.data + ") and a configuration (" + file + ") are given: leave one out");
  }
  if (choice.data.empty() && file.empty()) {
    if (const char* variable = std::getenv("FEEDRING_CONFIG")) file = variable;
    if (file.empty()) fail("no feed is given: name a folder of images, or a configuration with -c FILE");
  }
  if (choice.data.ends_with(".toml") && !std::filesystem::is_directory(choice.data)) {
    fail(choice.data + " is a configuration: give it with -c");
  }
  ChosenFeed chosen;
  chosen.config = file.empty() ? config_for_folder(choice.data, size) : load_config(file);
  if (choice.feed.empty()) return chosen;
  const std::vector<FeedSpec>& feeds = chosen.config.feeds;
  const auto found = std::find_if(feeds.begin(), feeds.end(), [&](const FeedSpec& f) { return f.name == choice.feed; });
  if (found == feeds.end()) {
    std::vector<std::string_view> names;
    for (const FeedSpec& feed : feeds) names.push_back(feed.name);
    fail("there is no feed \"" + choice.feed + "\" in " +
         (file.empty() ? "a plain folder, whose one feed is \"train\"" : file) + did_you_mean(choice.feed, names));
  }
  chosen.number = static_cast<std::size_t>(found - feeds.begin());
  return chosen;
}

void demand_files(const FeedSpec& spec) {
  if (!spec.own) return;
  throw Error(ErrorKind::kUsage, "feed \"" + spec.name +
                                     "\" has no files: its samples are made, not read; `feedring plan` and "
                                     "`feedring bench` work on it");
}

Scan scan_feed(const ChosenFeed& chosen) {
  const FeedSpec& spec = chosen.spec();
  demand_files(spec);
  std::vector<std::string> classes;
  if (spec.classes_from) {
    const auto other = std::find_if(chosen.config.feeds.begin(), chosen.config.feeds.end(),
                                    [&](const FeedSpec& feed) { return feed.name == *spec.classes_from; });
    classes = scan_data(other->data).classes;  // load_config has seen to it that there is one
  }
  Scan scan = scan_data(spec.data, spec.classes_from ? &classes : nullptr);
  for (const std::string& warning : scan.warnings) spdlog::warn("{}", warning);
  return scan;
}

}  // namespace feedring::cli
