// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>

#include "producers/dataset/archive_classes.hpp"
#include "producers/dataset/archive_file.hpp"
#include "producers/dataset/labels.hpp"

namespace feedring {
namespace {

using dataset::ArchiveFile;
using dataset::Listed;
using dataset::shown;

bool is_tar(const std::filesystem::path& file) { return file.extension() == ".tar" || file.extension() == ".TAR"; }

/// Whether the name, or that of a folder above, begins with a dot; or what macOS puts beside each file.
bool is_hidden(std::string_view name) {
  return name.starts_with('.') || name.find("/.") != std::string_view::npos || name.starts_with("__MACOSX/");
}

/// Why a member is no image, but for its size.
std::optional<Skip> skipped_as(const Listed& listed) {
  if (is_hidden(listed.name)) return Skip::kHidden;
  if (!is_image_name(listed.name.substr(listed.name.rfind('/') + 1))) return Skip::kStray;
  if (!listed.regular) return Skip::kNoFile;
  return std::nullopt;
}

void demand_readable(const ArchiveFile& file, const Listed& listed) {
  if (!listed.refusal.empty()) file.fail(listed.name, listed.refusal);
  if (const auto why = contradiction_in(listed.member, listed.bytes, file.bytes())) file.fail(listed.name, *why);
}

/// Where the archive is a pack, its head goes to `images`, and from the members.
void take_head(const ArchiveFile& file, std::vector<Listed>& members, dataset::ArchiveImages& images) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 28;
  if (members.empty() || members.front().name != kPackHead || members.front().bytes > kLongest) return;
  auto head = read_pack_head(file.read_text(members.front().member.offset, members.front().bytes));
  if (!head) return;
  images.take_head(std::move(*head));
  members.erase(members.begin());
}

void refuse_twins(const Scan& scan, const std::filesystem::path& file) {
  for (std::size_t i = 1; i < scan.samples.size(); ++i) {
    if (scan.path(scan.samples[i - 1]) != scan.path(scan.samples[i])) continue;
    throw Error(ErrorKind::kData,
                fmt::format("two members of {} are called {}: one sample would be taken for the other",
                            shown(file.native()), shown(scan.path(scan.samples[i]))));
  }
}

}  // namespace

bool is_archive_name(std::string_view name) noexcept {
  const auto ends = [name](std::string_view with) {
    return name.size() > with.size() &&
           std::equal(with.begin(), with.end(), name.end() - static_cast<std::ptrdiff_t>(with.size()),
                      [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
  };
  return ends(".zip") || ends(".tar");
}

Scan scan_archives(const std::vector<std::filesystem::path>& files, const std::vector<std::string>* classes_from,
                   NoSamples empty, const DataChoice& choice) {
  Scan scan;
  scan.root = std::filesystem::absolute(files.front()).lexically_normal().parent_path().native();
  dataset::ArchiveImages images(choice);
  for (const std::filesystem::path& path : files) {
    const ArchiveFile file(path);
    const auto number = static_cast<std::uint32_t>(scan.archives.size());
    scan.archives.push_back({path.filename().native(), file.bytes()});
    const std::string before = files.size() > 1 ? path.filename().native() + '/' : "";
    std::vector<Listed> members = is_tar(path) ? dataset::list_tar(file) : dataset::list_zip(file);
    if (files.size() == 1 && is_tar(path)) take_head(file, members, images);
    const bool labelled = is_tar(path) && images.take_labels(file, members);
    for (Listed& listed : members) {
      const std::optional<Skip> why = images.is_pack() ? std::nullopt : skipped_as(listed);
      if (why || listed.bytes == 0) {
        if (!labelled || why != Skip::kStray)
          scan.skipped.push_back({before + listed.name, why.value_or(Skip::kEmpty)});
        continue;
      }
      demand_readable(file, listed);
      listed.member.archive = number;
      images.add(std::move(listed), before);
    }
  }
  images.number(scan, classes_from, files.front());
  if (scan.samples.empty() && empty == NoSamples::kIsAnError) {
    throw Error(ErrorKind::kData, fmt::format("no images in {}{}: {} empty, {} with other names than an image's",
                                              shown(files.front().native()), files.size() > 1 ? " and others" : "",
                                              scan.skipped_as(Skip::kEmpty), scan.skipped_as(Skip::kStray)));
  }
  dataset::finish(scan, classes_from == nullptr);
  refuse_twins(scan, files.front());
  return scan;
}

}  // namespace feedring
