// SPDX-License-Identifier: Apache-2.0
#include "producers/config/load_episodes.hpp"

#include <algorithm>
#include <set>

#include "producers/config/class_list.hpp"
#include "producers/config/episode_file.hpp"
#include "producers/config/toml_table.hpp"

namespace feedring {
namespace {

constexpr std::int64_t kMost = 1 << 15;  ///< of classes, or of samples of a class: 2^30 rows an episode are enough

std::string range_text(std::int64_t low) {
  return "a whole number from " + std::to_string(low) + " to " + std::to_string(kMost) +
         ", or two of them, [lowest, highest]";
}

void read_count(TomlTable& table, std::string_view key, Count& count) {
  const toml::node* node = table.find(key);
  if (node == nullptr) return;
  std::vector<std::int64_t> numbers;
  if (node->is_integer()) numbers.assign(2, node->ref<std::int64_t>());
  if (const toml::array* list = node->as_array()) {
    for (const toml::node& each : *list) numbers.push_back(each.value_exact<std::int64_t>().value_or(0));
  }
  if (numbers.size() != 2 || numbers[0] < 1 || numbers[1] < numbers[0] || numbers[1] > kMost)
    table.wrong(key, *node, range_text(1));
  count = {static_cast<std::uint32_t>(numbers[0]), static_cast<std::uint32_t>(numbers[1])};
}

void read_weights(TomlTable& table, std::string_view key, double lowest, std::string_view expected,
                  std::vector<std::pair<std::string, double>>& weights) {
  const toml::node* node = table.find(key);
  if (node == nullptr) return;
  if (!node->is_table() || node->as_table()->empty()) table.wrong(key, *node, expected);
  for (const auto& [name, value] : *node->as_table()) {
    const double weight = value.is_number() ? value.value<double>().value_or(-1) : -1;
    if (!(weight >= lowest && weight <= 1e9)) table.wrong(key, value, expected);
    weights.emplace_back(std::string(name.str()), weight);
  }
}

void read_query_weights(TomlTable& table, std::vector<double>& weights) {
  static constexpr std::string_view kExpected = "a list of numbers above zero, one for each way";
  const toml::node* node = table.find("query_weights");
  if (node == nullptr) return;
  if (!node->is_array() || node->as_array()->empty()) table.wrong("query_weights", *node, kExpected);
  for (const toml::node& each : *node->as_array()) {
    const double weight = each.is_number() ? each.value<double>().value_or(-1) : -1;
    if (!(weight >= 1e-9 && weight <= 1e9)) table.wrong("query_weights", each, kExpected);
    weights.push_back(weight);
  }
}

void read_augment(TomlTable& table, std::vector<ClassAugment>& augment) {
  const toml::node* node = table.find("augment");
  if (node == nullptr) return;
  const std::string expected = "a list of " + any_of_words(words_of<ClassAugment>()) + ", each once at most";
  if (!node->is_array()) table.wrong("augment", *node, expected);
  for (const toml::node& each : *node->as_array()) {
    const auto word = each.is_string() ? from_word<ClassAugment>(each.ref<std::string>()) : std::nullopt;
    if (!word || std::find(augment.begin(), augment.end(), *word) != augment.end())
      table.wrong("augment", each, expected);
    augment.push_back(*word);
  }
}

/// True where a file holds the episodes: it says all that there is to say of them.
bool read_list(TomlTable& table, const toml::table& source, const std::string& title,
               const std::filesystem::path& folder, const std::string& file, EpisodeSpec& spec) {
  const std::string* list = table.text("file", "a path of a file that `feedring episodes export` wrote");
  if (list == nullptr) return false;
  for (const auto& [key, value] : source) {
    if (key.str() == "file") continue;
    fail_at(file, key.source(),
            title + " has a file, whose episodes are taken as they are: leave \"" + std::string(key.str()) + "\" out");
  }
  const std::filesystem::path path = (folder / *list).lexically_normal();
  take_episodes(path.string(), read_episode_text(path), spec);
  return true;
}

}  // namespace

bool fixed_by_name(std::string_view feed) noexcept {
  const std::string_view word = feed.substr(0, feed.find_first_of("-_."));
  return word == "val" || word == "valid" || word == "validation" || word == "test";
}

EpisodeSpec read_episodes(const std::string& feed, const toml::node& node, const std::filesystem::path& folder,
                          const std::string& file) {
  const std::string title = "[feed." + feed + ".episodes]";
  if (!node.is_table()) fail_at(file, node.source(), "episodes is a table: write " + title + " on a line of its own");
  TomlTable table(*node.as_table(), title, file);
  EpisodeSpec spec;
  if (read_list(table, *node.as_table(), title, folder, file, spec)) return spec;
  table.read_word("sizes", spec.sizes);
  if (spec.sizes == EpisodeSizes::kMetaDataset) {
    spec.ways = {5, 50};
    spec.shots = {100, 100};
    spec.queries = {10, 10};
  }
  read_count(table, "ways", spec.ways);
  read_count(table, "shots", spec.shots);
  read_count(table, "queries", spec.queries);
  table.read("support_limit", spec.support_limit, 1, std::int64_t{kMost} * kMost);
  table.read_word("query_split", spec.query_split);
  read_query_weights(table, spec.query_weights);
  table.read_word("classes", spec.classes);
  table.read_word("binding", spec.binding);
  table.read_word("label_map", spec.labels);
  table.read("within_superclass", spec.within_superclass);
  read_weights(table, "class_weights", 0, "a table of classes with weights from 0 to 1e9, such as { \"cat\" = 2 }",
               spec.class_weights);
  read_weights(table, "mixture", 1e-9,
               "a table of beginnings of class names with weights up to 1e9, such as { \"omniglot/\" = 2 }",
               spec.mixture);
  spec.only = read_class_key(table, "only", folder, file);
  read_augment(table, spec.augment);
  table.read("unlabelled", spec.unlabelled, 0, kMost);
  table.read("distractors", spec.distractors, 0, kMost);
  table.read_word("small_classes", spec.small_classes);
  table.read("tasks_per_epoch", spec.tasks_per_epoch, 1, INT64_MAX);
  spec.fixed = fixed_by_name(feed);
  table.read("fixed", spec.fixed);
  table.refuse_unknown_keys();
  if (const auto sentence = contradiction_in(spec)) fail_at(file, node.source(), title + ": " + *sentence);
  return spec;
}

void read_episode_layout(TomlTable& table, const toml::table& feed_table, FeedSpec& feed, const std::string& file) {
  table.read_word("episode_layout", feed.episode_layout);
  const toml::node* node = feed_table.get("episode_layout");
  const std::string title = "[feed." + feed.name + ']';
  if (!feed.episodes) {
    if (node != nullptr) fail_at(file, node->source(), title + " has an episode_layout and no episodes");
    return;
  }
  if (feed.episode_layout == EpisodeLayout::kFeedring) return;
  const EpisodeSpec& episodes = *feed.episodes;
  if (!has_one_shape(episodes)) {
    fail_at(file, node->source(),
            title + " episode_layout: " + std::string(to_word(feed.episode_layout)) +
                " knows no episodes of varying numbers, uneven queries or unlabelled samples: choose \"feedring\", "
                "which has masks for them");
  }
  const bool says_dtype = feed_table.contains("dtype") ||
                          std::any_of(feed.transform.begin(), feed.transform.end(),
                                      [](const nlohmann::json& step) { return step.at("name") == "ToDtype"; });
  if (!says_dtype) feed.dtype = Dtype::kFloat32;
  if (!feed_table.contains("layout")) feed.layout = Layout::kNchw;
}

void refuse_leaks(const std::vector<FeedSpec>& feeds, const std::string& file) {
  const auto names_of = [](const FeedSpec& feed) {
    const std::vector<std::string>& names = feed.episodes->only.empty() ? feed.classes : feed.episodes->only;
    return std::set<std::string>(names.begin(), names.end());
  };
  for (auto a = feeds.begin(); a != feeds.end(); ++a) {
    for (auto b = a + 1; a->episodes && b != feeds.end(); ++b) {
      if (!b->episodes || a->data != b->data || a->split != b->split) continue;
      const std::set<std::string> of_a = names_of(*a), of_b = names_of(*b);
      if (of_a == of_b) continue;
      std::string both;  // an empty list means all classes
      if (of_a.empty() || of_b.empty()) {
        both = of_a.empty() ? *of_b.begin() : *of_a.begin();
      } else {
        const auto shared =
            std::find_if(of_a.begin(), of_a.end(), [&](const auto& name) { return of_b.contains(name); });
        if (shared == of_a.end()) continue;
        both = *shared;
      }
      throw Error(ErrorKind::kUsage,
                  file + ": feeds \"" + a->name + "\" and \"" + b->name +
                      "\" have the same data, and both draw class \"" + both +
                      "\": with only, give them the same classes, or classes that have none in common");
    }
  }
}

}  // namespace feedring
