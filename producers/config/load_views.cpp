// SPDX-License-Identifier: Apache-2.0
#include "producers/config/load_views.hpp"

#include <algorithm>
#include <array>

#include "producers/config/load_transforms.hpp"
#include "runtime/contract.hpp"

namespace feedring {
namespace {

constexpr std::int64_t kMostOfAGroup = 64;
constexpr std::array<std::string_view, 4> kOfTheRing{"labels", "sample_ids", "valid", "status"};
constexpr std::size_t kMostTensors = contract::kMaxTensors - kOfTheRing.size();
constexpr std::size_t kLongestName = sizeof(contract::TensorEntry::name) - 1;
constexpr std::string_view kExpected =
    "a table of views, such as { global = { count = 2, transform = [ … ] }, local = { count = 6, transform = [ … ] } }";

void demand_tensor_name(const toml::key& key, const std::string& what, const std::string& file) {
  const std::string_view name = key.str();
  if (name.empty() || name.size() > kLongestName || name.find('\0') != std::string_view::npos) {
    fail_at(
        file, key.source(),
        "the name of " + what + ", which is that of its tensor, has 1 to " + std::to_string(kLongestName) + " bytes");
  }
  if (std::find(kOfTheRing.begin(), kOfTheRing.end(), name) != kOfTheRing.end()) {
    fail_at(file, key.source(),
            what + " cannot be called \"" + std::string(name) + "\": every batch has a tensor of that name already");
  }
}

ViewSpec read_view(const toml::key& key, const toml::table& source, const std::string& feed, const std::string& file) {
  const std::string title = "[feed." + feed + ".views." + std::string(key.str()) + ']';
  demand_tensor_name(key, "a view", file);
  TomlTable table(source, title, file);
  ViewSpec view{std::string(key.str())};
  table.read("count", view.count, 1, kMostOfAGroup);
  if (!source.contains("transform"))
    fail_at(file, key.source(), title + " has no transform: say how its pictures are made");
  read_transforms(table, view.transform, file);
  table.refuse_unknown_keys();
  return view;
}

}  // namespace

std::vector<ViewSpec> read_views(TomlTable& table, const toml::table& source, const std::string& feed,
                                 const std::string& file) {
  const toml::node* node = table.find("views");
  if (node == nullptr) return {};
  const toml::table* groups = node->as_table();
  if (groups == nullptr || groups->empty()) table.wrong("views", *node, kExpected);
  if (groups->size() > kMostTensors)
    table.wrong("views", *node, "at most " + std::to_string(kMostTensors) + " views, each of a count of its own");
  if (source.contains("transform")) {
    fail_at(file, source.get("transform")->source(),
            "[feed." + feed + "] has views, which say their transforms: leave out transform");
  }
  std::vector<ViewSpec> views;
  for (const TomlEntry& each : in_file_order(*groups)) {  // the order says which random numbers a view draws
    if (!each.value->is_table()) table.wrong("views", *each.value, kExpected);
    views.push_back(read_view(*each.key, *each.value->as_table(), feed, file));
  }
  return views;
}

std::vector<ColumnSpec> read_columns(TomlTable& table, const std::string& feed, const std::vector<ViewSpec>& views,
                                     const std::string& file) {
  const toml::node* node = table.find("columns");
  if (node == nullptr) return {};
  const toml::table* columns = node->as_table();
  if (columns == nullptr || columns->empty())
    table.wrong("columns", *node, "a table such as { target = \"float[4]\", tags = \"multi_hot\" }");
  std::vector<ColumnSpec> read;
  for (const TomlEntry& each : in_file_order(*columns)) {
    const std::string name(each.key->str());
    demand_tensor_name(*each.key, "a column", file);
    const bool of_pictures = views.empty() ? name == "images"
                                           : std::any_of(views.begin(), views.end(),
                                                         [&](const ViewSpec& view) { return view.name == name; });
    if (of_pictures)
      fail_at(file, each.key->source(), "a column cannot be called \"" + name + "\": that is a tensor of pictures");
    const auto* kind = each.value->as_string();
    std::optional<ColumnSpec> column = kind == nullptr ? std::nullopt : column_of(name, kind->get());
    if (!column) {
      fail_at(file, each.value->source(),
              "[feed." + feed + ".columns] " + name + " is " + described(*each.value) +
                  ", expected \"class\", \"float\", \"float[N]\", \"multi_hot\", \"image\" or \"mask\"");
    }
    read.push_back(*std::move(column));
  }
  if (read.size() + std::max<std::size_t>(views.size(), 1) > kMostTensors)
    table.wrong("columns", *node, "at most " + std::to_string(kMostTensors) + " columns and views");
  return read;
}

std::vector<ViewSpec> views_of(const FeedSpec& spec) {
  if (!spec.views.empty()) return spec.views;
  return {{"images", std::nullopt, spec.transform}};
}

}  // namespace feedring
