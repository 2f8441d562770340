// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/meta_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "producers/dataset/archive_file.hpp"
#include "producers/dataset/labels.hpp"

namespace feedring::pack {
namespace {

using dataset::ArchiveFile;
using nlohmann::json;
constexpr std::uint64_t kLongest = std::uint64_t{1} << 26;
constexpr std::array<const char*, 3> kSplits = {"TRAIN", "VALID", "TEST"};

/// Reads one specification; every failure names its file.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file, "specification") {
    if (file_.bytes() > kLongest) file_.fail("it has more than 64 MiB");
    json_ = json::parse(file_.read_text(0, file_.bytes()), nullptr, /*allow_exceptions=*/false);
    if (!json_.is_object()) file_.fail("it is no JSON object");
  }

  MetaSpec read() {
    MetaSpec spec;
    const std::vector<std::string> names = texts("class_names");
    const std::vector<std::uint64_t> images = counts("images_per_class", names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      spec.classes.push_back({names[i], images[i]});
      std::replace(spec.classes.back().name.begin(), spec.classes.back().name.end(), '/', '_');
    }
    const json& pattern = member("file_pattern");
    spec.sharded = pattern == "{}_{}.tfrecords";
    if (!spec.sharded && pattern != "{}.tfrecords")
      file_.fail("its file_pattern is neither {}.tfrecords nor {}_{}.tfrecords");
    if (json_.contains("split_subgraphs")) {
      split_by_graph(spec);
    } else if (json_.contains("superclasses_per_split")) {
      split_by_superclass(spec);
    } else {
      split_in_order(spec, counts_of_splits("classes_per_split"));
    }
    return spec;
  }

 private:
  [[nodiscard]] const json& member(const char* name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) file_.fail(fmt::format("it has no {}", name));
    return *found;
  }
  [[noreturn]] void fail_in(const char* name, std::string_view what) const {
    file_.fail(fmt::format("its {} {}", name, what));
  }

  /// The values of an object whose keys are the numbers from 0 on, by these.
  [[nodiscard]] std::vector<const json*> numbered(const char* name) const {
    const json& object = member(name);
    if (!object.is_object()) fail_in(name, "is no object");
    std::vector<const json*> values(object.size());
    for (const auto& [key, value] : object.items()) {
      std::size_t number = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
      if (error != std::errc() || end != key.data() + key.size() || number >= values.size() ||
          std::exchange(values[number], &value) != nullptr) {
        fail_in(name, "has other keys than the numbers from 0 on: " + dataset::shown(key));
      }
    }
    return values;
  }
  [[nodiscard]] std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> texts;
    for (const json* value : numbered(name)) {
      if (!value->is_string()) fail_in(name, "has something else than names");
      texts.push_back(value->get<std::string>());
    }
    return texts;
  }
  [[nodiscard]] std::uint64_t count_in(const json& value, const char* name) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > UINT32_MAX)
      fail_in(name, "has something else than counts");
    return value.get<std::uint64_t>();
  }
  /// A count each; of pools, as Meta-Dataset calls parts of a class, their sum.
  [[nodiscard]] std::vector<std::uint64_t> counts(const char* name, std::size_t wanted) const {
    std::vector<std::uint64_t> counts;
    for (const json* value : numbered(name)) {
      std::uint64_t count = 0;
      if (value->is_object()) {
        for (const json& pool : *value) count += count_in(pool, name);
      } else {
        count = count_in(*value, name);
      }
      counts.push_back(count);
    }
    if (counts.size() != wanted) fail_in(name, fmt::format("has {} entries for {}", counts.size(), wanted));
    return counts;
  }
  [[nodiscard]] std::array<std::uint64_t, 3> counts_of_splits(const char* name) const {
    const json& object = member(name);
    if (!object.is_object()) fail_in(name, "is no object");
    std::array<std::uint64_t, 3> counts{};
    for (const auto& [key, value] : object.items()) {
      const auto split = std::find(kSplits.begin(), kSplits.end(), key);
      if (split == kSplits.end()) fail_in(name, "has a split that is called " + dataset::shown(key));
      counts.at(static_cast<std::size_t>(split - kSplits.begin())) = count_in(value, name);
    }
    return counts;
  }

  /// The first classes are of train, the next of valid, the next of test.
  void split_in_order(MetaSpec& spec, const std::array<std::uint64_t, 3>& counts) const {
    std::size_t next = 0;
    for (std::uint32_t split = 0; split < counts.size(); ++split) {
      if (counts.at(split) > spec.classes.size() - next) file_.fail("its splits have more classes than it names");
      for (const std::size_t end = next + counts.at(split); next < end; ++next) spec.classes[next].split = split;
    }
    if (next != spec.classes.size()) file_.fail("its splits have fewer classes than it names");
  }

  /// The same of superclasses, each of which has so many classes.
  void split_by_superclass(MetaSpec& spec) const {
    const std::array<std::uint64_t, 3> supers = counts_of_splits("superclasses_per_split");
    const std::uint64_t all = supers[0] + supers[1] + supers[2];
    const std::vector<std::uint64_t> counts = this->counts("classes_per_superclass", all);
    const std::vector<std::string> names =
        json_.contains("superclass_names") ? texts("superclass_names") : std::vector<std::string>(all);
    if (names.size() != all) fail_in("superclass_names", fmt::format("has {} entries for {}", names.size(), all));
    std::array<std::uint64_t, 3> classes{};
    std::size_t next = 0;
    for (std::size_t super = 0; super < all; ++super) {
      classes.at(super < supers[0] ? 0 : super < supers[0] + supers[1] ? 1 : 2) += counts[super];
      if (counts[super] > spec.classes.size() - next) file_.fail("its superclasses have more classes than it names");
      std::string before = names[super];
      std::replace(before.begin(), before.end(), '/', '_');
      for (const std::size_t end = next + counts[super]; next < end; ++next) {
        if (!before.empty()) spec.classes[next].name = before + '/' + spec.classes[next].name;
      }
    }
    split_in_order(spec, classes);
  }

  /// ImageNet: the leaves of a split's graph are its classes, called by their WordNet ids.
  void split_by_graph(MetaSpec& spec) const {
    const char* const name = "split_subgraphs";
    std::array<std::set<std::string, std::less<>>, 3> leaves;
    for (std::size_t split = 0; split < kSplits.size(); ++split) {
      const json& graphs = member(name);
      const auto graph = graphs.is_object() ? graphs.find(kSplits.at(split)) : graphs.end();
      if (graph == graphs.end() || !graph->is_array()) fail_in(name, fmt::format("has no list {}", kSplits.at(split)));
      for (const json& node : *graph) {
        const auto id = node.is_object() ? node.find("wn_id") : node.end();
        const auto children = node.is_object() ? node.find("children_ids") : node.end();
        if (id == node.end() || !id->is_string() || children == node.end() || !children->is_array()) {
          fail_in(name, "has a node without wn_id and children_ids");
        }
        if (children->empty()) leaves.at(split).insert(id->get<std::string>());
      }
    }
    for (MetaSpec::Class& each : spec.classes) {
      for (std::uint32_t split = 0; split < leaves.size(); ++split) {
        if (!leaves.at(split).contains(each.name)) continue;
        if (each.split != 3) fail_in(name, "has a class in two splits: " + dataset::shown(each.name));
        each.split = split;
      }
    }
  }

  ArchiveFile file_;
  json json_;
};

}  // namespace

MetaSpec read_meta_spec(const std::filesystem::path& file) { return Reader(file).read(); }

}  // namespace feedring::pack
