// SPDX-License-Identifier: Apache-2.0
// The configuration file. docs/configuration.md describes every key.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "producers/config/byte_size.hpp"
#include "producers/config/class_list.hpp"
#include "producers/config/feed_spec.hpp"
#include "producers/config/load_episodes.hpp"
#include "producers/config/load_order.hpp"
#include "producers/config/load_own.hpp"
#include "producers/config/load_transforms.hpp"
#include "producers/config/load_views.hpp"
#include "producers/config/toml_table.hpp"
#include "runtime/contract.hpp"

namespace feedring {
namespace {

constexpr std::size_t kLargestFile = 4U << 20;  ///< a path to an image by mistake should not be parsed for minutes
constexpr std::int64_t kMaxBatch = 1 << 20;
constexpr std::int64_t kMaxRanks = 1024;
constexpr std::size_t kLongestName = 64;

std::string read_file(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorKind::kUsage, "cannot read the configuration " + file.string() + ": " + why);
  };
  if (std::filesystem::is_directory(file)) fail("it is a folder");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(std::strerror(errno));
  std::string text(kLargestFile + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) fail(std::strerror(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kLargestFile) fail("it is larger than 4 MiB");
  return text;
}

void read_background(TomlTable& table, std::optional<std::array<std::uint8_t, 3>>& background) {
  const toml::node* node = table.find("background");
  if (node == nullptr) return;
  constexpr std::string_view kExpected = "red, green and blue from 0 to 255, such as [255, 255, 255]";
  const toml::array* numbers = node->as_array();
  if (numbers == nullptr || numbers->size() != 3) table.wrong("background", *node, kExpected);
  std::array<std::uint8_t, 3> colour{};
  for (std::size_t i = 0; i < colour.size(); ++i) {
    const std::optional<std::int64_t> number = numbers->get(i)->value_exact<std::int64_t>();
    if (!number || *number < 0 || *number > 255) table.wrong("background", *node, kExpected);
    colour[i] = static_cast<std::uint8_t>(*number);
  }
  background = colour;
}

FeedSpec read_feed(std::string name, const toml::table& source, const std::filesystem::path& folder,
                   const std::string& file) {
  TomlTable table(source, "[feed." + name + ']', file);
  FeedSpec feed;
  feed.name = std::move(name);
  const std::string* data = table.text("data", "a path, relative to this file");
  if (const std::string* split = table.text("split", "the name of a split, such as \"train\"")) feed.split = *split;
  feed.classes = read_class_key(table, "classes", folder, file);
  table.read("class_depth", feed.class_depth, 1, 16);
  read_order(table, source, feed, folder, file);
  table.read("batch_size", feed.batch_size, 1, kMaxBatch);
  table.read("slots", feed.slots, 1, contract::kMaxSlots);
  table.read("seed", feed.seed, 0, INT64_MAX);
  table.read("shuffle", feed.shuffle);
  table.read_word("remainder", feed.remainder);
  table.read_word("on_error", feed.on_error);
  table.read("error_budget", feed.error_budget, 0.0, 1.0);
  if (!source.contains("tasks")) table.read_word("dtype", feed.dtype);  // else of their numbers
  table.read_word("layout", feed.layout);
  table.read_word("finish", feed.finish);
  table.read_word("cache", feed.cache);
  table.read("repeat", feed.repeat);
  table.read("auto_epoch", feed.auto_epoch);
  table.read_word("shard", feed.shard);
  if (const std::string* other = table.text("classes_from", "the name of a feed")) feed.classes_from = *other;
  table.read("max_pixels", feed.max_pixels, 1, std::int64_t{1} << 40);
  table.read("accept_damaged", feed.accept_damaged);
  table.read("exif_orientation", feed.exif_orientation);
  read_background(table, feed.background);
  table.read("item_deadline_s", feed.item_deadline_s, 0.1, 86'400.0);
  read_transforms(table, feed.transform, file);
  feed.views = read_views(table, source, feed.name, file);
  feed.columns = read_columns(table, feed.name, feed.views, file);
  if (const toml::node* episodes = table.find("episodes")) {
    feed.episodes = read_episodes(feed.name, *episodes, folder, file);
    if (!source.contains("batch_size")) feed.batch_size = 1;  // an episode is a batch of its own already
  }
  read_episode_layout(table, source, feed, file);
  feed.own = read_tasks(table, source, feed.name, file);
  if (!feed.own) feed.own = read_own(table, source, feed.name, folder, file);
  table.refuse_unknown_keys();
  demand_order(feed, source, file);
  if (feed.own || !feed.mix.empty()) return feed;
  if (data == nullptr) {
    fail_at(file, source.source(), "[feed." + feed.name + "] has no data: add data = \"path/to/images\"");
  }
  feed.data = (folder / *data).lexically_normal();
  return feed;
}

bool is_feed_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

// In the file's order: the ring of the first feed is made first.
std::vector<FeedSpec> read_feeds(const toml::table& root, const toml::node& node, const std::filesystem::path& folder,
                                 const std::string& file) {
  const toml::table* feeds = node.as_table();
  if (feeds == nullptr) fail_at(file, node.source(), "feeds are tables with a name: write [feed.train]");
  std::vector<FeedSpec> specs;
  for (const auto& [key, value] : in_file_order(*feeds)) {
    if (!value->is_table()) {
      fail_at(file, key->source(),
              "\"" + std::string(key->str()) + "\" stands in [feed] itself; feeds have names: write " +
                  "[feed.train] above it");
    }
    if (!is_feed_name(key->str())) {
      fail_at(
          file, key->source(),
          "a feed's name is 1 to 64 ASCII letters, digits, '_', '-' or '.', not \"" + std::string(key->str()) + '"');
    }
    specs.push_back(read_feed(std::string(key->str()), *value->as_table(), folder, file));
  }
  for (const FeedSpec& spec : specs) {
    if (!spec.classes_from) continue;
    const auto other =
        std::find_if(specs.begin(), specs.end(), [&](const FeedSpec& s) { return s.name == *spec.classes_from; });
    const toml::source_region& where = root["feed"][spec.name]["classes_from"].node()->source();
    const std::string says = "[feed." + spec.name + "] classes_from names ";
    if (other == specs.end()) {
      std::vector<std::string_view> names;
      for (const FeedSpec& s : specs) names.push_back(s.name);
      fail_at(
          file, where,
          says + "\"" + *spec.classes_from + "\", but there is no such feed" + did_you_mean(*spec.classes_from, names));
    }
    if (other->name == spec.name) fail_at(file, where, says + "the feed itself; leave it out, or name another feed");
    if (other->classes_from) {
      fail_at(file, where,
              says + "\"" + other->name + "\", which takes its own classes from \"" + *other->classes_from +
                  "\"; name that feed instead");
    }
  }
  refuse_leaks(specs, file);
  return specs;
}

PoolSpec read_pool(const toml::node& node, const std::filesystem::path& folder, const std::string& file) {
  if (!node.is_table()) fail_at(file, node.source(), "pool is a table: write [pool] on a line of its own");
  TomlTable table(*node.as_table(), "[pool]", file);
  PoolSpec pool;
  table.read("producers", pool.producers, 1, contract::kMaxProducers);
  table.read("ranks", pool.ranks, 1, kMaxRanks);
  if (const toml::node* limit = table.find("memory_limit")) {
    if (limit->is_string()) pool.memory_limit = parse_byte_size(limit->ref<std::string>());
    if (limit->is_integer() && limit->ref<std::int64_t>() > 0) pool.memory_limit = limit->ref<std::int64_t>();
    if (!pool.memory_limit)
      table.wrong("memory_limit", *limit, "an amount such as \"8 GiB\", \"500 MB\" or a number of bytes");
  }
  if (const toml::node* seek = table.find("seek_index")) {
    if (seek->is_boolean() && !seek->ref<bool>()) pool.seek_index = 0;
    if (seek->is_string()) pool.seek_index = parse_byte_size(seek->ref<std::string>());
    if (seek->is_integer() && seek->ref<std::int64_t>() > 0) pool.seek_index = seek->ref<std::int64_t>();
    if (!seek->is_boolean() && !pool.seek_index)
      table.wrong("seek_index", *seek, "true, false, an amount such as \"2 GiB\", or a number of bytes");
  }
  if (const std::string* failures = table.text("failures", "a path, relative to this file")) {
    pool.failures = (folder / *failures).lexically_normal();
  }
  read_producer(table, folder, pool.producer);
  table.read("ready_deadline_s", pool.ready_deadline_s, 0.1, 86'400.0);
  table.refuse_unknown_keys();
  return pool;
}

}  // namespace

Config load_config(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const std::string name = file.string();
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    fail_at(name, error.source(), "not valid TOML: " + std::string(error.description()));
  } catch (const TomlLost&) {
    throw Error(ErrorKind::kUsage, name + ": not valid TOML: a table or a key has no name, as in [=] or [.a]");
  }
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  Config config;
  TomlTable top(root, "the configuration", name);
  const toml::node* pool = top.find("pool");
  const toml::node* feeds = top.find("feed");
  top.refuse_unknown_keys();
  if (pool != nullptr) config.pool = read_pool(*pool, folder, name);
  if (feeds != nullptr) config.feeds = read_feeds(root, *feeds, folder, name);
  if (config.feeds.empty()) {
    throw Error(ErrorKind::kUsage,
                name + ": no feed is described: add a table [feed.train] with data = \"path/to/images\"");
  }
  demand_producer(config, name);
  return config;
}

}  // namespace feedring
