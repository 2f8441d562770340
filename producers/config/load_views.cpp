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
constexpr std::size_t kMostGroups = contract::kMaxTensors - kOfTheRing.size();
constexpr std::size_t kLongestName = sizeof(contract::TensorEntry::name) - 1;
constexpr std::string_view kExpected =
    "a table of views, such as { global = { count = 2, transform = [ … ] }, local = { count = 6, transform = [ … ] } }";

ViewSpec read_view(const toml::key& key, const toml::table& source, const std::string& feed, const std::string& file) {
  const std::string title = "[feed." + feed + ".views." + std::string(key.str()) + ']';
  if (key.str().empty() || key.str().size() > kLongestName || key.str().find('\0') != std::string_view::npos)
    fail_at(file, key.source(), "a view's name has 1 to " + std::to_string(kLongestName) + " bytes");
  if (std::find(kOfTheRing.begin(), kOfTheRing.end(), key.str()) != kOfTheRing.end()) {
    fail_at(
        file, key.source(),
        "a view cannot be called \"" + std::string(key.str()) + "\": every batch has a tensor of that name already");
  }
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
  if (groups->size() > kMostGroups)
    table.wrong("views", *node, "at most " + std::to_string(kMostGroups) + " views, each of a count of its own");
  if (source.contains("transform")) {
    fail_at(file, source.get("transform")->source(),
            "[feed." + feed + "] has views, which say their transforms: leave out transform");
  }
  struct Named {
    const toml::key* key;
    const toml::table* table;
  };
  std::vector<Named> ordered;
  for (const auto& [key, value] : *groups) {
    if (!value.is_table()) table.wrong("views", value, kExpected);
    ordered.push_back({&key, value.as_table()});
  }
  // toml++ keeps tables sorted by key, and their order says which random numbers a view draws.
  std::sort(ordered.begin(), ordered.end(),
            [](const Named& a, const Named& b) { return a.key->source().begin < b.key->source().begin; });
  std::vector<ViewSpec> views;
  for (const Named& each : ordered) views.push_back(read_view(*each.key, *each.table, feed, file));
  return views;
}

std::vector<ViewSpec> views_of(const FeedSpec& spec) {
  if (!spec.views.empty()) return spec.views;
  return {{"images", std::nullopt, spec.transform}};
}

}  // namespace feedring
