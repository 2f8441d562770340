// SPDX-License-Identifier: Apache-2.0
#include "producers/config/load_own.hpp"

#include <algorithm>

#include "producers/config/load_transforms.hpp"
#include "producers/config/toml_json.hpp"
#include "runtime/contract.hpp"

namespace feedring {
namespace {

constexpr std::size_t kLongestOptions = std::size_t{64} << 10;  ///< all of a feed goes through one message
constexpr std::int64_t kLargestDimension = std::int64_t{1} << 40;
constexpr std::array<std::string_view, 3> kOfTheRing{"sample_ids", "valid", "status"};

void read_shape(TomlTable& table, std::vector<std::uint64_t>& shape) {
  static const std::string kExpected = "a list of at most " + std::to_string(contract::kMaxDimensions - 1) +
                                       " whole numbers from 1 on, such as [3, 224, 224]";
  const toml::node* node = table.find("shape");
  if (node == nullptr) return;
  if (!node->is_array() || node->as_array()->size() >= contract::kMaxDimensions) table.wrong("shape", *node, kExpected);
  for (const toml::node& each : *node->as_array()) {
    const std::int64_t length = each.value_exact<std::int64_t>().value_or(0);
    if (length < 1 || length > kLargestDimension) table.wrong("shape", each, kExpected);
    shape.push_back(static_cast<std::uint64_t>(length));
  }
}

OwnTensor read_tensor(const toml::table& source, const std::string& title, const std::string& file) {
  TomlTable table(source, title, file);
  OwnTensor tensor;
  const std::string* name = table.text("name", "a name");
  if (name == nullptr) fail_at(file, source.source(), title + " has no name: write { name = \"signal\", … }");
  tensor.name = *name;
  constexpr std::size_t kLongest = sizeof(contract::TensorEntry::name) - 1;
  if (tensor.name.size() > kLongest)
    table.wrong("name", *table.find("name"), "at most " + std::to_string(kLongest) + " bytes");
  if (std::find(kOfTheRing.begin(), kOfTheRing.end(), tensor.name) != kOfTheRing.end())
    table.wrong("name", *table.find("name"), "another: every batch has a tensor of that name already");
  if (const std::string* dtype = table.text("dtype", "an element type")) {
    std::vector<std::string_view> names;
    for (const Dtype each : kDtypes) names.push_back(name_of(each));
    const auto found = std::find(names.begin(), names.end(), *dtype);
    if (found == names.end()) table.wrong("dtype", *table.find("dtype"), any_of_words(names));
    tensor.dtype = kDtypes.at(static_cast<std::size_t>(found - names.begin()));
  }
  if (source.contains("transform")) {
    if (source.contains("shape"))
      fail_at(file, source.get("shape")->source(),
              "tensor \"" + tensor.name + "\" has a shape and a transform, which says the size: leave out shape");
    if (!source.contains("dtype")) tensor.dtype = Dtype::kUint8;
    nlohmann::json transforms = nlohmann::json::array();
    read_transforms(table, transforms, file);
    tensor.transform = transforms.dump();
  }
  read_shape(table, tensor.shape);
  table.refuse_unknown_keys();
  return tensor;
}

}  // namespace

void refuse_keys_of_images(const toml::table& source, const std::string& title, const std::string& file,
                           const std::string& why) {
  for (const std::string_view key : {"data",     "split",         "classes",        "class_depth",      "files",
                                     "limit",    "mix",           "weights",        "transform",        "views",
                                     "columns",  "dtype",         "layout",         "finish",           "classes_from",
                                     "cache",    "max_pixels",    "accept_damaged", "exif_orientation", "background",
                                     "episodes", "episode_layout"}) {
    // Tasks have a dtype, of their numbers.
    if (!source.contains(key) || (key == "dtype" && source.contains("tasks"))) continue;
    fail_at(file, source.get(key)->source(), title + ' ' + std::string(key) + ' ' + why);
  }
}

std::optional<OwnSpec> read_own(TomlTable& table, const toml::table& source, const std::string& feed,
                                const std::filesystem::path& folder, const std::string& file) {
  const toml::node* samples = table.find("samples");
  const toml::node* tensors = table.find("tensors");
  const toml::node* options = table.find("options");
  const std::string* attachment = table.text("attachment", "a path, relative to this file");
  if (samples == nullptr && tensors == nullptr && options == nullptr && attachment == nullptr) return std::nullopt;
  const std::string title = "[feed." + feed + ']';
  const auto missing = [&](const std::string& what) { fail_at(file, source.source(), title + " has " + what); };
  if (samples == nullptr) missing("own samples, but not how many: add samples = 1000");
  if (tensors == nullptr)
    missing("own samples, but no tensors: add tensors = [ { name = \"signal\", shape = [16000] } ]");
  refuse_keys_of_images(source, title, file,
                        "is for images in files, and the samples of this feed are made by the pool's producer program: "
                        "leave out either the one or the other");
  OwnSpec own;
  table.read("samples", own.samples, 1, kMostSamples);
  static const std::string kTensors =
      "a list of 1 to " + std::to_string(contract::kMaxTensors - kOfTheRing.size()) + " tables with a name each";
  const toml::array* list = tensors->as_array();
  if (list == nullptr || list->empty() || list->size() > contract::kMaxTensors - kOfTheRing.size())
    table.wrong("tensors", *tensors, kTensors);
  for (const toml::node& each : *list) {
    if (!each.is_table()) table.wrong("tensors", each, kTensors);
    own.tensors.push_back(read_tensor(*each.as_table(), "a tensor of " + title, file));
    const std::string& name = own.tensors.back().name;
    if (std::count_if(own.tensors.begin(), own.tensors.end(), [&](const auto& t) { return t.name == name; }) > 1)
      fail_at(file, each.source(), title + " has two tensors called \"" + name + '"');
  }
  if (options != nullptr) {
    if (!options->is_table()) table.wrong("options", *options, "a table, which the producer program is given");
    own.options = to_json_value(*options, file);
    if (own.options.dump().size() > kLongestOptions)
      table.wrong("options", *options, "at most 64 KiB of JSON; more goes into a file that `attachment` names");
  }
  if (attachment != nullptr) own.attachment = (folder / *attachment).lexically_normal();
  return own;
}

void read_producer(TomlTable& table, const std::filesystem::path& folder, std::vector<std::string>& producer) {
  static constexpr std::string_view kExpected =
      "a program, or a list of a program and its arguments; how many there are says `producers`";
  const toml::node* node = table.find("producer");
  if (node == nullptr) return;
  if (node->is_string()) producer.push_back(node->ref<std::string>());
  if (const toml::array* list = node->as_array()) {
    for (const toml::node& each : *list) {
      if (!each.is_string()) table.wrong("producer", each, kExpected);
      producer.push_back(each.ref<std::string>());
    }
  }
  const auto unusable = [](const std::string& word) { return word.find('\0') != std::string::npos; };
  if (producer.empty() || producer.front().empty() || std::any_of(producer.begin(), producer.end(), unusable))
    table.wrong("producer", *node, kExpected);
  if (producer.front().find('/') != std::string::npos)
    producer.front() = (folder / producer.front()).lexically_normal().string();
}

void demand_producer(const Config& config, const std::string& file) {
  if (!config.pool.producer.empty()) return;
  for (const FeedSpec& feed : config.feeds) {
    if (!feed.own || feed.own->tasks) continue;
    throw Error(ErrorKind::kUsage, file + ": feed \"" + feed.name +
                                       "\" has own samples and no program makes them: add producer = "
                                       "\"./my_producer\" to [pool]");
  }
}

}  // namespace feedring
