// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <iterator>
#include <utility>

#include "producers/dataset/labels.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/dataset/walker.hpp"

namespace feedring {
namespace {

using dataset::Found;
using dataset::shown;

std::vector<std::string> folders_of(dataset::Entries& entries) {
  std::vector<std::string> names = std::move(entries.folders);
  std::move(entries.linked_folders.begin(), entries.linked_folders.end(), std::back_inserter(names));
  return names;
}

/// The folders in `names`; images in these themselves join those of the top, which lie beside the classes.
std::vector<std::string> one_level_down(const std::vector<std::string>& names, dataset::Walker& walker,
                                        dataset::Entries& top) {
  std::vector<std::string> below;
  for (const std::string& name : names) {
    dataset::Entries entries = walker.list(name);
    std::move(entries.images.begin(), entries.images.end(), std::back_inserter(top.images));
    const std::vector<std::string> folders = folders_of(entries);
    below.insert(below.end(), folders.begin(), folders.end());
  }
  return below;
}

[[noreturn]] void fail_without_samples(const Scan& scan) {
  throw Error(
      ErrorKind::kData,
      fmt::format("no images in {}: {} empty, {} with other names than .jpg .jpeg .png .ppm .pgm .pbm .webp .gif .bmp "
                  ".tif .tiff, {} hidden",
                  shown(scan.root), scan.skipped_as(Skip::kEmpty), scan.skipped_as(Skip::kStray),
                  scan.skipped_as(Skip::kHidden)));
}

}  // namespace

Scan scan_folder(const std::filesystem::path& folder, const std::vector<std::string>* classes_from, NoSamples empty,
                 const DataChoice& choice) {
  Scan scan;
  scan.root = std::filesystem::absolute(folder).native();
  while (scan.root.size() > 1 && scan.root.back() == '/') scan.root.pop_back();
  dataset::Walker walker(folder, scan);
  dataset::Entries top = walker.list("");
  std::vector<std::string> names = folders_of(top);
  for (std::uint32_t level = 1; level < choice.class_depth; ++level) names = one_level_down(names, walker, top);
  std::sort(names.begin(), names.end());
  dataset::ClassFilter filter(choice.classes);
  std::erase_if(names, [&](const std::string& name) { return !filter.keeps(name); });
  filter.demand_all_seen(scan.root);
  std::vector<std::vector<Found>> images;
  for (const std::string& name : names) images.push_back(walker.walk(name, top.id));

  const bool flat = choice.classes.empty() && choice.class_depth == 1 &&
                    std::all_of(images.begin(), images.end(), [](const auto& of_class) { return of_class.empty(); });
  if (flat) {
    if (!names.empty() && !top.images.empty()) {
      scan.warnings.push_back(fmt::format("{} is read as a flat folder: none of its {} sub-folders holds an image",
                                          shown(scan.root), names.size()));
    }
    names = {""};
    images = {std::move(top.images)};
  } else {
    for (const Found& image : top.images) {
      scan.skipped.push_back({image.path, image.bytes == 0 ? Skip::kEmpty : Skip::kBesideClasses});
    }
  }

  scan.classes = classes_from != nullptr ? *classes_from : names;
  const std::vector<std::uint32_t> numbers = dataset::numbers_of(names, scan.classes, scan.root);
  for (std::size_t i = 0; i < images.size(); ++i) dataset::add_images(scan, std::exchange(images[i], {}), numbers[i]);
  if (scan.samples.empty() && empty == NoSamples::kIsAnError) fail_without_samples(scan);
  dataset::finish(scan, classes_from == nullptr);
  return scan;
}

}  // namespace feedring
