// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/manifest_rows.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/dataset/labels.hpp"

namespace feedring::dataset {
namespace {

/// What stands before a row's path, with the row's label in between where it says so.
struct Place {
  std::string_view before;
  bool label;
};
constexpr std::array<Place, 4> kPlaces = {{{"", false}, {"images/", false}, {"", true}, {"images/", true}}};

}  // namespace

ManifestRows::ManifestRows(const std::filesystem::path& manifest, const DataChoice& choice, Places places)
    : file_(std::filesystem::absolute(manifest)),
      choice_(choice),
      places_(places),
      filter_(choice.classes),
      cells_(choice.columns) {
  scan_.root = file_.parent_path().native();
  folder_.reset(::open(scan_.root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) {
    throw Error(ErrorKind::kData,
                fmt::format("cannot read manifest {}: {}", shown(file_.native()), std::strerror(errno)));
  }
}

bool ManifestRows::chosen(const ManifestRow& row, const TextLines& lines) {
  if (!choice_.split.empty()) {
    if (!row.split) {
      lines.fail(
          fmt::format("the manifest does not say which split a sample belongs to, but split {} is asked for: "
                      "add a column \"split\", or leave split out",
                      shown(choice_.split)));
    }
    if (*row.split != choice_.split) {
      const auto known = other_splits_.find(*row.split);
      if (known != other_splits_.end()) {
        ++known->second;
      } else if (other_splits_.size() < 100) {
        other_splits_.emplace(*row.split, 1);
      }
      return false;
    }
  }
  return filter_.keeps_all() || filter_.keeps(row.label.value_or(std::string_view()));
}

void ManifestRows::put_place(const ManifestRow& row) {
  const Place& place = kPlaces.at(place_.value_or(0));
  path_.assign(place.before);
  if (place.label) path_.append(row.label.value_or("")).push_back('/');
  path_.append(row.path);
}

// The first row's file decides: a list is of one kind, and files of the same name may lie in several places.
void ManifestRows::find_place(const ManifestRow& row, const TextLines& lines) {
  std::string tried;
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    if (kPlaces.at(i).label && !row.label) continue;
    place_ = i;
    put_place(row);
    if (::faccessat(folder_.get(), path_.c_str(), F_OK, 0) == 0) return;
    tried += (tried.empty() ? "" : ", ") + shown(path_);
  }
  lines.fail(fmt::format("its file is not there; looked for, beside the manifest: {}", tried));
}

std::uint64_t ManifestRows::size_on_disk(const TextLines& lines) const {
  struct stat info {};
  if (::fstatat(folder_.get(), path_.c_str(), &info, 0) != 0) {
    lines.fail(fmt::format("{}: {}", shown(path_), std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode)) lines.fail(fmt::format("{} is no regular file", shown(path_)));
  return static_cast<std::uint64_t>(info.st_size);
}

void ManifestRows::add(const ManifestRow& row, const std::vector<Cell>& cells, const TextLines& lines) {
  if (row.path.empty()) lines.fail("the path is empty");
  if (row.path.front() == '/') lines.fail("an absolute path: paths are relative to the manifest's folder");
  if (row.label && row.label->empty()) lines.fail("the label is empty");
  if (!chosen(row, lines)) return;
  const std::string_view label = row.label.value_or(std::string_view());
  const std::optional<std::uint32_t> number = labels_.add(label);
  if (!number) {
    lines.fail(labels_.numeric() ? fmt::format("label {} is no number up to {}, but the first line's is", shown(label),
                                               LabelTable::kMaxLabel)
                                 : fmt::format("label {} is a number, but the first line's is a name", shown(label)));
  }
  if (places_ == Places::kUsual && !row.bytes && !place_) find_place(row, lines);
  put_place(row);
  if (path_.size() >= PATH_MAX) lines.fail("the path is too long to be opened");
  const std::uint64_t bytes = row.bytes ? *row.bytes : size_on_disk(lines);
  if (bytes == 0) {
    scan_.skipped.push_back({path_, Skip::kEmpty});
  } else {
    add_sample(scan_, path_, bytes, *number);
    scan_.samples.back().row = cells_.add(cells, folder_.get(), lines);
    if (!choice_.weights.empty()) scan_.samples.back().weight = weight_of(row, lines);
  }
}

double ManifestRows::weight_of(const ManifestRow& row, const TextLines& lines) const {
  if (row.weight && *row.weight >= 0 && std::isfinite(*row.weight)) return *row.weight;
  lines.fail(fmt::format("the weight in {} is no number from 0 on", shown(choice_.weights)));
}

void ManifestRows::fail_without_samples() const {
  std::string splits;
  for (const auto& [name, rows] : other_splits_) {
    splits += fmt::format("{}{} ({})", splits.empty() ? "" : ", ", shown(name), rows);
  }
  throw Error(ErrorKind::kData, splits.empty() || !scan_.skipped.empty()
                                    ? fmt::format("manifest {} lists no samples ({} of empty files)",
                                                  shown(file_.native()), scan_.skipped.size())
                                    : fmt::format("manifest {} has no sample of split {}; it has these splits: {}",
                                                  shown(file_.native()), shown(choice_.split), splits));
}

Scan ManifestRows::finish(const std::vector<std::string>* classes_from) {
  if (scan_.samples.empty() && scan_.skipped.empty() && !other_splits_.empty()) fail_without_samples();
  filter_.demand_all_seen(file_);
  if (scan_.samples.empty()) fail_without_samples();
  scan_.weighted = !choice_.weights.empty();
  labels_.settle(scan_, classes_from);
  scan_.values = cells_.finish(file_);
  dataset::finish(scan_, classes_from == nullptr);
  return std::move(scan_);
}

}  // namespace feedring::dataset
