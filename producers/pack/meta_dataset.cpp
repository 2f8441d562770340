// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/meta_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <feedring/error.hpp>
#include <map>
#include <optional>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "producers/dataset/labels.hpp"
#include "producers/pack/meta_spec.hpp"
#include "producers/pack/tf_example.hpp"
#include "producers/pack/tf_records.hpp"

namespace feedring::pack {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSpec = "dataset_spec.json";
constexpr std::string_view kExtension = ".tfrecords";

/// Shards by their number, then what has a name ("test", "train"), bytewise.
struct Shard {
  std::uint64_t number = UINT64_MAX;
  std::string name;
  bool operator<(const Shard& other) const { return std::tie(number, name) < std::tie(other.number, other.name); }
};

/// All files NUMBER_SHARD.tfrecords of a folder, by class.
std::map<std::uint64_t, std::vector<fs::path>> find_shards(const fs::path& folder) {
  std::map<std::uint64_t, std::map<Shard, fs::path>> found;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().native();
    if (!name.ends_with(kExtension)) continue;
    const char* const end = name.data() + name.size() - kExtension.size();
    std::uint64_t number = 0;
    const auto [behind, wrong] = std::from_chars(name.data(), end, number);
    if (wrong != std::errc() || behind == end || *behind != '_') continue;
    Shard shard{.number = UINT64_MAX, .name = std::string(behind + 1, end)};
    std::uint64_t of = 0;
    const auto [last, none] = std::from_chars(behind + 1, end, of);
    if (none == std::errc() && last == end) shard.number = of;
    found[number].emplace(shard, entry->path());
  }
  if (error) {
    throw Error(ErrorKind::kData,
                fmt::format("cannot read the folder {}: {}", dataset::shown(folder.native()), error.message()));
  }
  std::map<std::uint64_t, std::vector<fs::path>> files;
  for (auto& [number, shards] : found) {
    for (auto& [shard, path] : shards) files[number].push_back(std::move(path));
  }
  return files;
}

std::optional<std::uint32_t> number_of_split(std::string_view name) {
  if (name == "train") return 0;
  if (name == "valid" || name == "val") return 1;
  if (name == "test") return 2;
  return std::nullopt;
}

class MetaSource : public Source {
 public:
  MetaSource(const fs::path& folder, const MetaSpec& spec, std::optional<std::uint32_t> split) {
    const auto shards = spec.sharded ? find_shards(folder) : std::map<std::uint64_t, std::vector<fs::path>>();
    for (std::size_t number = 0; number < spec.classes.size(); ++number) {
      const MetaSpec::Class& of = spec.classes[number];
      if (split && of.split != *split) continue;
      std::vector<fs::path> files = {folder / (std::to_string(number) + std::string(kExtension))};
      if (spec.sharded) {
        const auto found = shards.find(number);
        files = found == shards.end() ? std::vector<fs::path>() : found->second;
      }
      const std::uint64_t before = items_;
      for (const fs::path& file : files) add(file, number);
      classes_.push_back(of.name);
      if (items_ - before == of.images) continue;
      throw Error(
          ErrorKind::kData,
          fmt::format("class {} of {} has {} images, but {} says {}: a file is missing, cut short, or of other data",
                      number, dataset::shown(folder.native()), items_ - before, kSpec, of.images));
    }
  }

  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }
  [[nodiscard]] std::uint64_t items() const override { return items_; }
  [[nodiscard]] std::uint32_t label(std::uint64_t number) const override { return file_of(number).label; }
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }

  [[nodiscard]] std::string name(std::uint64_t number) override {
    const File& file = file_of(number);
    return names_.name_of(classes_[file.label], fmt::format("{:08}.jpg", number - first_of(file.label)), number);
  }
  [[nodiscard]] fs::path origin(std::uint64_t number) const override { return file_of(number).path; }

  [[nodiscard]] std::span<const std::uint8_t> read(std::uint64_t number) override {
    const File& file = file_of(number);
    if (open_file_ != &file) {
      open_.reset();
      open_.emplace(file.path);
      open_file_ = &file;
    }
    const std::uint64_t record = number - file.first;
    if (record >= open_->size()) open_->fail(record, "is not there any more: the data changed while it was read");
    open_->read(record, record_);
    const std::optional<TfExample> example = read_tf_example(record_);
    if (!example) open_->fail(record, "is no tf.train.Example, or damaged");
    if (!example->image || !example->label) open_->fail(record, "has not one image and one label");
    if (*example->label != static_cast<std::int64_t>(file.number)) {
      open_->fail(record, fmt::format("has the label {}, but the file is of class {}", *example->label, file.number));
    }
    return {reinterpret_cast<const std::uint8_t*>(example->image->data()), example->image->size()};
  }

 private:
  struct File {
    fs::path path;
    std::uint64_t first = 0;   // item
    std::uint64_t number = 0;  // of its class in the specification
    std::uint32_t label = 0;
  };

  void add(const fs::path& path, std::uint64_t number) {
    const TfRecords records(path);
    bytes_ += records.bytes();
    files_.push_back({path, items_, number, static_cast<std::uint32_t>(classes_.size())});
    items_ += records.size();
  }
  [[nodiscard]] const File& file_of(std::uint64_t item) const {
    const auto behind = std::upper_bound(files_.begin(), files_.end(), item,
                                         [](std::uint64_t at, const File& file) { return at < file.first; });
    return *std::prev(behind);
  }
  [[nodiscard]] std::uint64_t first_of(std::uint32_t label) const {
    return std::lower_bound(files_.begin(), files_.end(), label,
                            [](const File& file, std::uint32_t of) { return file.label < of; })
        ->first;
  }

  std::vector<std::string> classes_;
  std::vector<File> files_;
  std::uint64_t items_ = 0, bytes_ = 0;
  const File* open_file_ = nullptr;
  std::optional<TfRecords> open_;
  std::string record_;
  Names names_;
};

}  // namespace

bool is_meta_dataset(const fs::path& data) {
  std::error_code error;
  return data.filename() == kSpec || fs::is_regular_file(data / kSpec, error);
}

std::unique_ptr<Source> open_meta_dataset(const fs::path& data, const std::string& split) {
  const fs::path folder = data.filename() == kSpec ? fs::absolute(data).parent_path() : data;
  const std::optional<std::uint32_t> wanted = number_of_split(split);
  if (!split.empty() && !wanted) {
    throw Error(ErrorKind::kUsage, fmt::format("{} has no split {}: those of Meta-Dataset are train, valid and test",
                                               dataset::shown(data.native()), dataset::shown(split)));
  }
  return std::make_unique<MetaSource>(folder, read_meta_spec(folder / kSpec), wanted);
}

}  // namespace feedring::pack
