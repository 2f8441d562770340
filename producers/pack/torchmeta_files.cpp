// SPDX-License-Identifier: Apache-2.0
// Which files a data set of TorchMeta's has.
#include <fmt/format.h>

#include <array>
#include <feedring/error.hpp>
#include <string_view>
#include <system_error>

#include "producers/dataset/labels.hpp"
#include "producers/pack/torchmeta.hpp"

namespace feedring::pack {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kLabels = "_labels.json", kData = "_data.hdf5", kVinyals = "vinyals_";
constexpr const char* kAll = "data.hdf5";
constexpr std::array<const char*, 3> kSplits = {"train", "val", "test"};

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

[[noreturn]] void fail(const fs::path& data, std::string_view what) {
  throw Error(ErrorKind::kUsage, fmt::format("{} {}", dataset::shown(data.native()), what));
}

/// The file that a list of classes is about: of its split alone, or of all, which may lie in the folder above.
std::optional<TorchMeta> by_labels(const fs::path& labels) {
  const std::string name = labels.filename().native();
  const std::string split = name.substr(0, name.size() - kLabels.size());
  const fs::path folder = fs::absolute(labels).parent_path();
  for (const fs::path& file : {folder / (split + std::string(kData)), folder / kAll, folder.parent_path() / kAll}) {
    if (is_file(file)) return TorchMeta{file, labels};
  }
  return std::nullopt;
}

std::optional<TorchMeta> in_folder(const fs::path& folder, const std::string& split) {
  if (!split.empty()) {
    for (const std::string& name : {std::string(kVinyals) + split, split}) {
      const fs::path labels = folder / (name + std::string(kLabels));
      if (is_file(labels)) return by_labels(labels);
    }
    for (const char* inner : {"cifar-fs", "fc100"}) {
      if (is_file(folder / kAll) && is_file(folder / inner / (split + std::string(kLabels)))) {
        fail(folder, "has several lists of splits: give the folder cifar-fs or fc100 in it");
      }
    }
    if (is_file(folder / kAll)) fail(folder, "has no list of the split " + dataset::shown(split));
    return std::nullopt;
  }
  if (is_file(folder / kAll)) return TorchMeta{folder / kAll, {}};
  for (const char* each : kSplits) {
    if (is_file(folder / (each + std::string(kData)))) fail(folder, "has a file a split: choose one by --split");
    if (is_file(folder / (each + std::string(kLabels))) && is_file(folder.parent_path() / kAll)) {
      fail(folder, "has a list of classes a split: choose one by --split");
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<TorchMeta> find_torchmeta(const fs::path& data, const std::string& split) {
  std::error_code error;
  if (fs::is_directory(data, error)) return in_folder(data, split);
  const std::string name = data.filename().native();
  if (name.ends_with(kLabels) && is_file(data)) {
    if (!split.empty()) fail(data, "is the list of a split: leave --split out");
    return by_labels(data);
  }
  if (!name.ends_with(".hdf5") && !name.ends_with(".h5")) return std::nullopt;
  if (name == kAll && !split.empty()) return in_folder(fs::absolute(data).parent_path(), split);
  if (!split.empty()) fail(data, "is a file of one split: leave --split out");
  if (!name.ends_with(kData)) return TorchMeta{data, {}};
  const fs::path labels =
      fs::path(data).replace_filename(name.substr(0, name.size() - kData.size()) + std::string(kLabels));
  return TorchMeta{data, is_file(labels) ? labels : fs::path()};
}

}  // namespace feedring::pack
