// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/archive_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "producers/dataset/columns.hpp"
#include "producers/dataset/labels.hpp"

namespace feedring::dataset {
namespace {

constexpr std::uint64_t kLongestLabel = 1 << 16;

std::size_t levels_in(std::string_view folder_or_file) {
  return static_cast<std::size_t>(std::count(folder_or_file.begin(), folder_or_file.end(), '/'));
}

/// What a ….cls says.
std::string label_in(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  const std::size_t end = text.find_last_not_of(kBlank) + 1;
  return std::string(text.substr(begin, end > begin ? end - begin : 0));
}

/// What a ….json says, where it says a label.
std::optional<std::string> label_in_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  for (const std::string_view name : kLabelNames) {
    const auto found = json.find(name);
    if (found == json.end()) continue;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_number_unsigned()) return std::to_string(found->get<std::uint64_t>());
  }
  return std::nullopt;
}

}  // namespace

std::string_view key_of(std::string_view name) {
  const std::size_t last = name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1;
  return name.substr(0, std::min(name.find('.', last), name.size()));
}

bool ArchiveImages::take_labels(const ArchiveFile& file, const std::vector<Listed>& members) {
  labels_.clear();
  std::set<std::string_view> images;  // a label that stands beside none of them says nothing
  for (const Listed& each : members) {
    if (is_image_name(std::string_view(each.name).substr(each.name.rfind('/') + 1))) images.insert(key_of(each.name));
  }
  for (const Listed& each : members) {
    const std::string_view key = key_of(each.name);
    if (!images.contains(key)) continue;
    const std::string_view extension = std::string_view(each.name).substr(key.size());
    if (!each.regular || !each.refusal.empty() || each.name.starts_with("__") || each.bytes > kLongestLabel) continue;
    std::optional<std::string> label;
    if (extension == ".cls") label = label_in(file.read_text(each.member.offset, each.bytes));
    if (extension == ".json") label = label_in_json(file.read_text(each.member.offset, each.bytes));
    if (!label) continue;
    if (label->empty() || label->find('\0') != std::string::npos) file.fail(each.name, "holds no label");
    const auto [known, added] = labels_.emplace(key, *label);
    if (!added && known->second != *label) file.fail(key, "has two labels");
  }
  labelled_ = labelled_ || !labels_.empty();
  return !labels_.empty();
}

void ArchiveImages::add(Listed listed, const std::string& before) {
  if (images_.size() > std::numeric_limits<std::uint32_t>::max() - 1) {
    throw Error(ErrorKind::kData, "archives of more than 4,294,967,294 images cannot be read");
  }
  const auto label = labels_.find(key_of(listed.name));
  images_.push_back(
      {before + listed.name, before.size(), listed.bytes, listed.member, label == labels_.end() ? "" : label->second});
}

/// The longest folder, with its '/', in which all images lie, and below which each has `levels` folders more; else "".
std::string_view ArchiveImages::common_folder(std::size_t levels) const {
  std::string_view common = images_.front().in_archive();
  const auto up = [&common] {
    const std::size_t slash = common.size() < 2 ? std::string_view::npos : common.rfind('/', common.size() - 2);
    common = slash == std::string_view::npos ? std::string_view() : common.substr(0, slash + 1);
  };
  common = common.substr(0, common.rfind('/') == std::string_view::npos ? 0 : common.rfind('/') + 1);
  std::size_t least = levels_in(common);
  for (const Image& image : images_) {
    while (!image.in_archive().starts_with(common)) up();
    least = std::min(least, levels_in(image.in_archive()));
  }
  while (!common.empty() && levels_in(common) + levels > least) up();
  return common;
}

void ArchiveImages::keep_split(const std::filesystem::path& data) {
  const std::string folder = std::string(common_folder(choice_.class_depth + 1)) + choice_.split + '/';
  std::erase_if(images_, [&](const Image& image) { return !image.in_archive().starts_with(folder); });
  if (images_.empty()) {
    throw Error(ErrorKind::kData, fmt::format("{} has no split {}: no image lies in {}", shown(data.native()),
                                              shown(choice_.split), shown(folder)));
  }
}

void ArchiveImages::add_sample(Scan& scan, const Image& image, std::uint32_t label) const {
  dataset::add_sample(scan, image.path, image.bytes, label);
  scan.samples.back().member = static_cast<std::uint32_t>(scan.members.size());
  scan.members.push_back(image.member);
}

void ArchiveImages::number_by_folder(Scan& scan, const std::vector<std::string>* classes_from,
                                     const std::filesystem::path& data) {
  const std::size_t prefix = common_folder(choice_.class_depth).size();
  const bool flat = std::all_of(images_.begin(), images_.end(),
                                [&](const Image& image) { return levels_in(image.in_archive().substr(prefix)) == 0; });
  const auto class_of = [&](const Image& image) -> std::optional<std::string_view> {
    if (flat) return "";
    const std::string_view below = image.in_archive().substr(prefix);
    std::size_t end = 0;
    for (std::uint32_t level = 0; level < choice_.class_depth; ++level) {
      const std::size_t slash = below.find('/', level == 0 ? 0 : end + 1);
      if (slash == std::string_view::npos) return std::nullopt;
      end = slash;
    }
    return below.substr(0, end);
  };
  ClassFilter filter(choice_.classes);
  std::map<std::string, std::uint32_t, std::less<>> numbers;
  for (const Image& image : images_) {
    const auto name = class_of(image);
    if (name && filter.keeps(*name)) numbers.emplace(*name, 0);
  }
  filter.demand_all_seen(data);
  std::vector<std::string> names;
  for (const auto& [name, number] : numbers) names.push_back(name);
  scan.classes = classes_from != nullptr ? *classes_from : names;
  const std::vector<std::uint32_t> of_names = numbers_of(names, scan.classes, data);
  std::size_t next = 0;
  for (auto& [name, number] : numbers) number = of_names[next++];
  for (const Image& image : images_) {
    const auto name = class_of(image);
    const auto number = name ? numbers.find(*name) : numbers.end();
    if (!name) scan.skipped.push_back({image.path, Skip::kBesideClasses});
    if (number != numbers.end()) add_sample(scan, image, number->second);
  }
}

void ArchiveImages::number_by_head(Scan& scan, const std::vector<std::string>* classes_from,
                                   const std::filesystem::path& data) {
  const auto fail = [&](std::string_view what) {
    throw Error(ErrorKind::kData, fmt::format("the pack {} {}", shown(data.native()), what));
  };
  if (!choice_.split.empty()) fail("has no splits: make one of each split, or choose classes");
  std::uint64_t all = 0;
  for (const std::uint64_t samples : head_->samples) all += samples;
  if (all != images_.size()) fail("was changed: it has not the files that its first one says; make it anew");
  ClassFilter filter(choice_.classes);
  std::vector<std::string> names;
  std::vector<bool> kept;
  for (const std::string& name : head_->classes) {
    kept.push_back(filter.keeps(name));
    if (kept.back()) names.push_back(name);
  }
  filter.demand_all_seen(data);
  scan.classes = classes_from != nullptr ? *classes_from : names;
  const std::vector<std::uint32_t> numbers = numbers_of(names, scan.classes, data);
  std::size_t next = 0, number = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::uint64_t left = head_->samples[i]; left > 0; --left, ++next) {
      if (kept[i]) add_sample(scan, images_[next], numbers[number]);
    }
    if (kept[i]) ++number;
  }
}

void ArchiveImages::number_by_label(Scan& scan, const std::vector<std::string>* classes_from,
                                    const std::filesystem::path& data) {
  ClassFilter filter(choice_.classes);
  LabelTable table;
  std::set<std::pair<std::uint32_t, std::string_view>> samples;
  for (const Image& image : images_) {
    const auto fail = [&](std::string_view what) {
      throw Error(ErrorKind::kData, fmt::format("{}: the sample {} {}", shown(data.native()), shown(image.path), what));
    };
    const std::string_view key = key_of(image.in_archive());
    if (!samples.emplace(image.member.archive, key).second) fail("has several images");
    if (image.label.empty()) fail("has no label, but others have one: add its .cls");
    if (!filter.keeps(image.label)) continue;
    const std::optional<std::uint32_t> number = table.add(image.label);
    if (!number)
      fail(fmt::format("has the label {}, but the first sample's is {}", shown(image.label),
                       table.numeric() ? "a number up to 16777215" : "a name"));
    add_sample(scan, image, *number);
  }
  filter.demand_all_seen(data);
  if (!scan.samples.empty()) table.settle(scan, classes_from);
}

void ArchiveImages::number(Scan& scan, const std::vector<std::string>* classes_from,
                           const std::filesystem::path& data) {
  if (is_pack()) return number_by_head(scan, classes_from, data);
  if (images_.empty()) return;
  if (!choice_.split.empty()) keep_split(data);
  if (labelled_) {
    number_by_label(scan, classes_from, data);
  } else {
    number_by_folder(scan, classes_from, data);
  }
}

}  // namespace feedring::dataset
