// SPDX-License-Identifier: Apache-2.0
#include "producers/config/load_order.hpp"

#include "producers/config/class_list.hpp"
#include "producers/config/file_list.hpp"

namespace feedring {
namespace {

constexpr double kLargestWeight = 1e9;
constexpr double kSmallestShare = 1e-6;  ///< shares are whole multiples of it

void read_files(TomlTable& table, std::vector<std::string>& files, const std::filesystem::path& folder,
                const std::string& file) {
  static constexpr std::string_view kExpected = "a list of paths, or a path to a file with one a line";
  const toml::node* node = table.find("files");
  if (node == nullptr) return;
  if (node->is_string() && !node->ref<std::string>().empty()) {
    try {
      files = read_file_list(node->ref<std::string>(), folder);
    } catch (const Error& error) {
      fail_at(file, node->source(), error.what());
    }
    return;
  }
  if (!node->is_array() || node->as_array()->empty()) table.wrong("files", *node, kExpected);
  for (const toml::node& each : *node->as_array()) {
    if (!each.is_string() || each.ref<std::string>().empty()) table.wrong("files", each, kExpected);
    files.push_back(each.ref<std::string>());
  }
}

void read_mix(TomlTable& table, std::vector<MixedData>& mix, const std::filesystem::path& folder,
              const std::string& file) {
  static constexpr std::string_view kExpected =
      "two or more tables such as [ { data = \"a\", weight = 3 }, { data = \"b\" } ]";
  const toml::node* node = table.find("mix");
  if (node == nullptr) return;
  if (!node->is_array() || node->as_array()->size() < 2) table.wrong("mix", *node, kExpected);
  for (const toml::node& each : *node->as_array()) {
    if (!each.is_table()) table.wrong("mix", each, kExpected);
    TomlTable one(*each.as_table(), "a data set of mix", file);
    MixedData part;
    const std::string* data = one.text("data", "a path, relative to this file");
    if (data == nullptr) fail_at(file, each.source(), "a data set of mix has no data: add data = \"path/to/images\"");
    part.data = (folder / *data).lexically_normal();
    if (const std::string* split = one.text("split", "the name of a split, such as \"train\"")) part.split = *split;
    part.classes = read_class_key(one, "classes", folder, file);
    one.read("class_depth", part.class_depth, 1, 16);
    read_files(one, part.files, folder, file);
    one.read("limit", part.limit, 1, INT64_MAX);
    one.read("weight", part.weight, kSmallestShare, kLargestWeight);
    one.refuse_unknown_keys();
    mix.push_back(std::move(part));
  }
}

void read_weights(TomlTable& table, SampleWeights& weights) {
  static constexpr std::string_view kExpected =
      "\"balanced\", the name of a column, or weights by class such as { cat = 3, dog = 0.5 }";
  const toml::node* node = table.find("weights");
  if (node == nullptr) return;
  if (node->is_string() && !node->ref<std::string>().empty()) {
    weights.by_class = node->ref<std::string>() == "balanced";
    if (!weights.by_class) weights.column = node->ref<std::string>();
    return;
  }
  if (!node->is_table() || node->as_table()->empty()) table.wrong("weights", *node, kExpected);
  weights.by_class = true;
  for (const auto& [name, value] : *node->as_table()) {
    const std::optional<double> weight = value.is_number() ? value.value<double>() : std::nullopt;
    if (!weight || !(*weight == 0 || (*weight >= kSmallestShare && *weight <= kLargestWeight))) {
      table.wrong("weights", value, "a number from 1e-6 to 1e9, or 0, for class \"" + std::string(name.str()) + '"');
    }
    weights.classes.emplace_back(std::string(name.str()), *weight);
  }
}

}  // namespace

void read_order(TomlTable& table, const toml::table& source, FeedSpec& feed, const std::filesystem::path& folder,
                const std::string& file) {
  read_files(table, feed.files, folder, file);
  table.read("limit", feed.limit, 1, INT64_MAX);
  read_mix(table, feed.mix, folder, file);
  read_weights(table, feed.weights);
  table.read("samples_per_epoch", feed.samples_per_epoch, 1, std::int64_t{1} << 48);
  if (feed.mix.empty()) return;
  if (source.contains("columns")) {
    fail_at(file, source.get("columns")->source(),
            "[feed." + feed.name + "] has \"mix\" and \"columns\": columns are those of one table, give it as data");
  }
  for (const char* key : {"data", "split", "classes", "class_depth", "files", "limit", "weights"}) {
    if (!source.contains(key)) continue;
    fail_at(file, source.get(key)->source(),
            "[feed." + feed.name + "] has \"mix\" and \"" + key + "\": put \"" + key + "\" into the tables of mix" +
                (std::string_view(key) == "weights" ? ", as the weight of each data set" : ""));
  }
}

void demand_order(const FeedSpec& feed, const toml::table& source, const std::string& file) {
  const auto refuse = [&](const char* key, const std::string& why) {
    fail_at(file, source.get(key)->source(), "[feed." + feed.name + "] has \"" + key + "\", but " + why);
  };
  if (feed.episodes) {
    if (source.contains("mix"))
      refuse("mix", "draws episodes: put the data sets into one folder and name them in episodes.mixture");
    if (source.contains("weights")) refuse("weights", "draws episodes: use episodes.class_weights");
    if (source.contains("samples_per_epoch"))
      refuse("samples_per_epoch", "draws episodes: use episodes.tasks_per_epoch");
  }
  if (!feed.shuffle && source.contains("weights")) {
    refuse("weights", "shuffle = false, which is the order of the data: leave one of them out");
  }
}

}  // namespace feedring
