// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/pack.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "producers/dataset/labels.hpp"
#include "producers/dataset/pack_head.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/pack/tar_writer.hpp"
#include "runtime/memory_limits.hpp"

namespace feedring::pack {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kPerItem = 1024;  // a header, and half a block of padding, and some more

void demand_room(const Source& source, const fs::path& target) {
  std::error_code error;
  const fs::space_info space = fs::space(fs::absolute(target).parent_path(), error);
  const std::uint64_t needed = source.bytes() + source.items() * kPerItem;
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
  std::set<std::string_view> names;
  for (const std::string& name : source.classes()) {
    if (!names.insert(name).second) fail("two classes are called " + dataset::shown(name) + ", rename one");
    if (name.find('\0') != std::string::npos)
      fail("the name of class " + dataset::shown(name) + " holds a NUL character");
  }
}

void demand_picture(const Item& item) {
  if (item.bytes.empty() || item.bytes.size() > kLargestMember) {
    throw Error(ErrorKind::kData, fmt::format("{} cannot be packed: it has {} bytes, a file of a pack has 1 to {}",
                                              dataset::shown(item.name), item.bytes.size(), kLargestMember));
  }
}

std::vector<std::uint64_t> count(Source& source) {
  std::vector<std::uint64_t> counts(source.classes().size());
  for (std::uint64_t i = 0; i < source.items(); ++i) ++counts.at(source.label(i));
  return counts;
}

}  // namespace

Report write_pack(Source& source, const fs::path& target, const std::function<void(std::uint64_t)>& progress) {
  demand_target(target);
  demand_classes(source, target);
  demand_room(source, target);
  TarWriter tar(target);
  const std::string head = write_pack_head(source.classes(), count(source));
  tar.add(kPackHead, {reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
  for (std::uint64_t i = 0; i < source.items(); ++i) {
    const Item item = source.item(i);
    demand_picture(item);
    tar.add(item.name, item.bytes);
    progress(i + 1);
  }
  Report report{.samples = source.items(), .classes = source.classes().size(), .bytes = 0, .dataset_digest = {}};
  report.bytes = tar.finish();
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
