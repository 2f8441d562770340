// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/feed_choice.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <feedring/error.hpp>
#include <filesystem>
#include <vector>

#include "producers/config/class_list.hpp"
#include "producers/config/file_list.hpp"
#include "producers/config/find_feed.hpp"
#include "producers/config/words.hpp"
#include "producers/pool/sample_order.hpp"

namespace feedring::cli {

void add_feed_options(CLI::App& command, FeedChoice& choice) {
  command.add_option("DIR", choice.data, "Folder of images (one folder per class, or flat), or a manifest");
  command.add_option("-c,--config", choice.config, "Configuration file, in the place of DIR")->type_name("FILE");
  command.add_option("--feed", choice.feed, "Feed of the configuration (default: its first)")->type_name("NAME");
  add_data_options(command, choice);
}

void add_data_options(CLI::App& command, FeedChoice& choice) {
  command.add_option("--split", choice.split, "Of the data, this split: a part of DIR, or rows of a manifest")
      ->type_name("NAME");
  command
      .add_option("--classes", choice.classes, "Of the data, the classes that this file (or builtin:SET/SPLIT) names")
      ->type_name("LIST");
  command.add_option("--class-depth", choice.class_depth, "Levels of folders that make a class (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 16).description(""));
  command.add_option("--files", choice.files, "Of the data, the files that this file names, one a line")
      ->type_name("LIST");
  command.add_option("--limit", choice.limit, "Of the data, N samples at even distances")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
}

void add_cache_option(CLI::App& command, FeedChoice& choice) {
  command.add_option("--cache", choice.cache, "Keep each picture decoded, once for all: decoded, or none")
      ->check(CLI::IsMember(std::vector<std::string>{"none", "decoded"}).description(""))
      ->type_name("WHAT");
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
  const std::optional<Cache> cache = from_word<Cache>(choice.cache);  // nullopt: not given
  chosen.config = file.empty() ? config_for_folder(choice.data, size, cache.value_or(Cache::kNone)) : load_config(file);
  if (!choice.feed.empty()) chosen.number = find_feed(choice.feed, chosen.config, file);
  if (cache) chosen.spec().cache = *cache;
  apply_data_options(choice, chosen.spec());
  return chosen;
}

void apply_data_options(const FeedChoice& choice, FeedSpec& spec) {
  if (!choice.split.empty()) spec.split = choice.split;
  if (choice.class_depth) spec.class_depth = *choice.class_depth;
  if (!choice.classes.empty()) spec.classes = read_class_list(choice.classes, "");
  if (!choice.files.empty()) spec.files = read_file_list(choice.files, "");
  if (choice.limit) spec.limit = *choice.limit;
  const bool given =
      !choice.split.empty() || choice.class_depth || !choice.classes.empty() || !choice.files.empty() || choice.limit;
  if (given && !spec.mix.empty()) {
    throw Error(ErrorKind::kUsage,
                "feed \"" + spec.name +
                    "\" mixes several data sets, of which --split, --classes, "
                    "--class-depth, --files and --limit cannot choose: put them into the tables of mix");
  }
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
  std::optional<Scan> numbered_as;
  if (spec.classes_from) {
    const auto other = std::find_if(chosen.config.feeds.begin(), chosen.config.feeds.end(),
                                    [&](const FeedSpec& feed) { return feed.name == *spec.classes_from; });
    // load_config has seen to it that there is one.
    numbered_as = scan_samples(*other);
  }
  Scan scan = scan_samples(spec, numbered_as ? &numbered_as->classes : nullptr, NoSamples::kIsAnError,
                           numbered_as ? numbered_as->values.columns : std::vector<ColumnSpec>());
  for (const std::string& warning : scan.warnings) spdlog::warn("{}", warning);
  return scan;
}

}  // namespace feedring::cli
