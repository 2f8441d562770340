// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "producers/dataset/labels.hpp"
#include "producers/dataset/pack_head.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/pack/checksum.hpp"
#include "producers/pack/journal.hpp"
#include "producers/pack/resume.hpp"
#include "producers/pack/tar_writer.hpp"
#include "runtime/memory_limits.hpp"

namespace feedring::pack {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kPerItem = 1024;  // a header, and half a block of padding, and some more

void demand_room(const Source& source, const fs::path& target, std::uint64_t there) {
  std::error_code error;
  const fs::space_info space = fs::space(fs::absolute(target).parent_path(), error);
  const std::uint64_t all = source.bytes() + source.items() * kPerItem;
  const std::uint64_t needed = all - std::min(all, there);
  if (!error && space.available < needed) {
    throw Error(ErrorKind::kMemory,
                fmt::format("{} needs about {} and its file system has {} free: choose another place", target.string(),
                            human_bytes(needed), human_bytes(space.available)));
  }
}

void demand_target(const fs::path& target) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(target, error))) {
    throw Error(ErrorKind::kUsage, target.string() + " is there already: remove it, or choose another name");
  }
  if (target.extension() != ".tar") {
    throw Error(ErrorKind::kUsage, '"' + target.string() + "\" is no name of a pack: let it end in .tar");
  }
}

// What a feed would refuse later is refused before anything is written.
void demand_classes(const Source& source, const fs::path& target) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorKind::kData, target.string() + " cannot be made: " + why);
  };
  if (source.items() == 0) fail("the data has no picture");
  std::vector<std::string_view> names(source.classes().begin(), source.classes().end());
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) fail("two classes are called " + dataset::shown(*twice) + ", rename one");
  for (const std::string& name : source.classes()) {
    if (name.find('\0') != std::string::npos)
      fail("the name of class " + dataset::shown(name) + " holds a NUL character");
  }
}

void demand_picture(const std::string& name, std::span<const std::uint8_t> bytes) {
  if (bytes.empty() || bytes.size() > kLargestMember) {
    throw Error(ErrorKind::kData, fmt::format("{} cannot be packed: it has {} bytes, a file of a pack has 1 to {}",
                                              dataset::shown(name), bytes.size(), kLargestMember));
  }
}

std::vector<std::uint64_t> count(Source& source) {
  std::vector<std::uint64_t> counts(source.classes().size());
  for (std::uint64_t i = 0; i < source.items(); ++i) ++counts.at(source.label(i));
  return counts;
}

/// Between checkpoints: what is lost when an import is interrupted, and read again when the next one goes on. The first
/// is for the end of a class, the second within one.
constexpr std::uint64_t kLeastStep = std::uint64_t{1} << 18, kMostStep = std::uint64_t{1} << 26;

/// Writes the items from `next` on, and where they can be gone on from.
void write_items(Source& source, TarWriter& tar, Journal& journal, ItemNames& names, std::uint64_t next,
                 const std::function<void(std::uint64_t)>& progress) {
  std::uint64_t step = 0;
  for (; next < source.items(); ++next) {
    names.note(next);
    const std::span<const std::uint8_t> bytes = source.read(next);
    demand_picture(names.name(next), bytes);
    tar.add(names.name(next), bytes);
    progress(next + 1);
    step += bytes.size();
    const bool class_ends = next + 1 < source.items() && source.label(next + 1) != source.label(next);
    if (step < (class_ends ? kLeastStep : kMostStep)) continue;
    const std::uint64_t end = tar.written();
    journal.add({next + 1, end, names.take_checksum(), tar.take_checksum()});
    tar.keep();
    names.forget(next + 1);
    step = 0;
  }
}

}  // namespace

Report write_pack(Source& source, const fs::path& target, const std::function<void(std::uint64_t)>& progress) {
  demand_target(target);
  demand_classes(source, target);
  TarWriter tar(target);
  demand_target(target);  // another import may just have finished it
  const std::string head = write_pack_head(source.classes(), count(source));
  Checksum head_sum;
  head_sum.add(head);
  Journal journal(target, head_sum.take());
  ItemNames names(source);
  Report report{
      .samples = source.items(), .classes = source.classes().size(), .resumed = 0, .bytes = 0, .dataset_digest = {}};
  try {
    report.resumed = resume(tar, journal, names, source);
    if (report.resumed == 0) tar.add(kPackHead, {reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
    demand_room(source, target, tar.written());
    write_items(source, tar, journal, names, report.resumed, progress);
    report.bytes = tar.finish();
  } catch (...) {
    if (journal.empty() && journal.found().empty()) journal.remove();
    throw;
  }
  journal.remove();
  // Read as a feed reads it: what is printed is what will be there, and what cannot be read does not stay.
  try {
    report.dataset_digest = dataset_digest(scan_data(target));
  } catch (...) {
    std::error_code error;
    fs::remove(target, error);
    throw;
  }
  return report;
}

}  // namespace feedring::pack
