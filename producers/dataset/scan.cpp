// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <feedring/error.hpp>

#include "producers/dataset/archive.hpp"
#include "producers/dataset/digest.hpp"
#include "producers/dataset/easy_set.hpp"
#include "producers/dataset/importable.hpp"
#include "producers/dataset/labels.hpp"
#include "producers/dataset/manifest.hpp"

namespace feedring {

std::string_view reason_of(Skip why) noexcept {
  switch (why) {
    case Skip::kHidden: return "hidden: its name starts with a dot";
    case Skip::kStray: return "not an image's name";
    case Skip::kBesideClasses: return "an image beside the class folders";
    case Skip::kEmpty: return "empty file";
    case Skip::kNoFile: return "not a regular file, or a link that leads nowhere";
    case Skip::kSeenFolder: return "a link to a folder that was read already";
  }
  return "?";
}

std::uint64_t Scan::skipped_as(Skip why) const noexcept {
  return static_cast<std::uint64_t>(
      std::count_if(skipped.begin(), skipped.end(), [why](const Skipped& file) { return file.why == why; }));
}

bool is_image_name(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 11> kExtensions = {"jpg",  "jpeg", "png", "ppm", "pgm", "pbm",
                                                            "webp", "gif",  "bmp", "tif", "tiff"};
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view extension = name.substr(dot + 1);
  return std::any_of(kExtensions.begin(), kExtensions.end(), [extension](std::string_view known) {
    return std::equal(extension.begin(), extension.end(), known.begin(), known.end(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
  });
}

Scan scan_data(const std::filesystem::path& data, const std::vector<std::string>* classes_from, NoSamples empty,
               const DataChoice& choice) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(data, error);
  if (std::filesystem::is_directory(status) && !choice.split.empty()) {
    return scan_data(dataset::place_of_split(data, choice.split), classes_from, empty,
                     {{}, choice.classes, choice.class_depth, choice.columns, choice.weights});
  }
  const std::vector<std::filesystem::path> archives = archives_of(data);
  const bool rows = archives.empty() && std::filesystem::is_regular_file(status) && data.extension() != ".json";
  if (!choice.columns.empty() && !rows) {
    throw Error(ErrorKind::kData,
                fmt::format("{} has no column {}: columns are those of a table with a head line, or keys of JSON lines",
                            dataset::shown(data.native()), dataset::shown(choice.columns.front().name)));
  }
  if (!archives.empty()) return scan_archives(archives, classes_from, empty, choice);
  if (std::filesystem::is_directory(status)) return scan_folder(data, classes_from, empty, choice);
  if (std::filesystem::is_regular_file(status)) {
    refuse_importable(data);
    return data.extension() == ".json" ? read_easy_set(data, classes_from, choice)
                                       : read_manifest(data, classes_from, choice);
  }
  const std::string why = error ? error.message() : "it is neither a folder of images nor a manifest file";
  throw Error(ErrorKind::kData, fmt::format("cannot read data {}: {}", dataset::shown(data.native()), why));
}

std::string dataset_digest(const Scan& scan) { return dataset::hex(dataset::digest_of(scan)); }

}  // namespace feedring
