// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <unordered_map>
#include <utility>

namespace feedring::dataset {

std::vector<std::uint32_t> numbers_of(const std::vector<std::string>& names, const std::vector<std::string>& classes,
                                      const std::filesystem::path& data) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (std::size_t i = 0; i < classes.size(); ++i) known.emplace(classes[i], static_cast<std::uint32_t>(i));
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : names) {
    const auto found = known.find(name);
    if (found == known.end()) {
      throw Error(ErrorKind::kData,
                  name.empty()
                      ? fmt::format("{} has no classes, but classes_from names a feed that has: remove "
                                    "classes_from, or sort the images into class folders",
                                    shown(data.native()))
                      : fmt::format("class {} of {} is unknown to the feed that classes_from names: remove the "
                                    "class, or number the classes by a feed that has it",
                                    shown(name), shown(data.native())));
    }
    numbers.push_back(found->second);
  }
  return numbers;
}

void add_sample(Scan& scan, std::string_view path, std::uint64_t bytes, std::uint32_t label) {
  scan.samples.push_back({.path_begin = scan.paths.size(),
                          .bytes = bytes,
                          .path_length = static_cast<std::uint32_t>(path.size()),
                          .label = label});
  scan.paths.append(path);
  scan.paths.push_back('\0');
}

namespace {

/// Puts samples into order, and their paths with them: whoever reads one after the other reads memory in order too. The
/// samples go to their class first, so that each class is sorted within the caches; at ten million samples, going
/// through memory at random would take several times as long.
void sort_samples(Scan& scan) {
  // std::string_view compares as unsigned bytes: the same order under every locale.
  const auto before = [&scan](const Sample& a, const Sample& b) {
    return a.label != b.label ? a.label < b.label : scan.path(a) < scan.path(b);
  };
  if (std::is_sorted(scan.samples.begin(), scan.samples.end(), before)) return;

  struct Place {
    std::size_t sample = 0;  // where the next sample of a class goes, and its path
    std::size_t path = 0;
  };
  std::vector<Place> places(scan.classes.size() + 1);
  for (const Sample& sample : scan.samples) {
    ++places[sample.label + 1].sample;
    places[sample.label + 1].path += sample.path_length + 1;
  }
  for (std::size_t i = 1; i < places.size(); ++i) {
    places[i].sample += places[i - 1].sample;
    places[i].path += places[i - 1].path;
  }
  std::vector<Sample> samples(scan.samples.size());
  std::string paths(scan.paths.size(), '\0');
  for (const Sample& sample : scan.samples) {
    Place& place = places[sample.label];
    scan.path(sample).copy(paths.data() + place.path, sample.path_length);
    samples[place.sample] = sample;
    samples[place.sample++].path_begin = std::exchange(place.path, place.path + sample.path_length + 1);
  }
  scan.samples = std::move(samples);
  scan.paths = std::move(paths);

  std::string of_class;
  for (auto first = scan.samples.begin(); first != scan.samples.end();) {
    const auto last = std::find_if(first, scan.samples.end(), [&](const Sample& s) { return s.label != first->label; });
    const std::size_t begin = first->path_begin;
    std::sort(first, last, before);
    of_class.clear();
    for (; first != last; ++first) {
      of_class.append(scan.paths, first->path_begin, first->path_length + 1);
      first->path_begin = begin + of_class.size() - first->path_length - 1;
    }
    of_class.copy(scan.paths.data() + begin, of_class.size());
  }
}

}  // namespace

void finish(Scan& scan, bool warn_empty) {
  sort_samples(scan);
  std::sort(scan.skipped.begin(), scan.skipped.end(),
            [](const Skipped& a, const Skipped& b) { return a.path < b.path; });
  if (!warn_empty) return;
  std::vector<bool> used(scan.classes.size(), false);
  for (const Sample& sample : scan.samples) used[sample.label] = true;
  // A column of large numbers leaves millions of classes without images: a warning each would fill the memory.
  constexpr std::size_t kNamed = 20;
  std::size_t empty = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] || ++empty > kNamed) continue;
    scan.warnings.push_back(fmt::format("class {} of {} has no images; it keeps its number {}", shown(scan.classes[i]),
                                        shown(scan.root), i));
  }
  if (empty > kNamed) {
    scan.warnings.push_back(
        fmt::format("{} more classes of {} have no images; they keep their numbers, and the class "
                    "table takes memory for each of them",
                    empty - kNamed, shown(scan.root)));
  }
}

std::string shown(std::string_view bytes) {
  constexpr std::size_t kLongest = 400;
  std::string text = "'";
  for (const char c : bytes.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + (bytes.size() > kLongest ? "...'" : "'");
}

}  // namespace feedring::dataset
