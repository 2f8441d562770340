// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/episode_options.hpp"

#include <feedring/error.hpp>

#include "producers/config/episode_file.hpp"

namespace feedring::cli {

void EpisodeOptions::apply(FeedSpec& spec, bool batch_given) const {
  if (!ways && !shots && !queries && !episodes && file.empty()) return;
  if (!spec.episodes) {
    spec.episodes.emplace();
    if (!batch_given) spec.batch_size = 1;
  }
  if (!file.empty()) {
    if (ways || shots || queries || episodes) {
      throw Error(ErrorKind::kUsage,
                  "the episodes of --episode-file are taken as they are: leave --ways, --shots, --queries and "
                  "--episodes out");
    }
    take_episodes(file, read_episode_text(file), *spec.episodes);
    if (spec.episode_layout != EpisodeLayout::kFeedring && !has_one_shape(*spec.episodes)) {
      throw Error(ErrorKind::kUsage, "the episodes in " + file + " vary in their numbers, which the feed's " +
                                         "episode_layout does not know: choose \"feedring\"");
    }
    return;
  }
  if (ways) spec.episodes->ways = {*ways, *ways};
  if (shots) spec.episodes->shots = {*shots, *shots};
  if (queries) spec.episodes->queries = {*queries, *queries};
  if (episodes) spec.episodes->tasks_per_epoch = *episodes;
  if (const auto sentence = contradiction_in(*spec.episodes)) throw Error(ErrorKind::kUsage, *sentence);
}

void add_episode_options(CLI::App& command, EpisodeOptions& options) {
  const auto count = [&](const char* name, std::optional<std::uint32_t>& value, const char* what) {
    command.add_option(name, value, what)->type_name("N")->check(CLI::Range(1, 1 << 15).description(""));
  };
  count("--ways", options.ways, "Episodes: classes of each (default: the feed's, or 5)");
  count("--shots", options.shots, "Episodes: support samples of each class (default: the feed's, or 1)");
  count("--queries", options.queries, "Episodes: query samples of each class (default: the feed's, or 15)");
  command.add_option("--episodes", options.episodes, "Episodes an epoch (default: the feed's, or 1000)")
      ->type_name("M")
      ->check(CLI::Range(std::int64_t{1}, INT64_MAX).description(""));
  command.add_option("--episode-file", options.file, "Episodes: those of this file, which `episodes export` wrote")
      ->type_name("FILE");
}

}  // namespace feedring::cli
