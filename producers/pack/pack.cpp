// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/pack.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

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

std::vector<std::uint64_t> count(Source& source) {
  std::vector<std::uint64_t> counts(source.classes().size());
  for (std::uint64_t i = 0; i < source.items(); ++i) ++counts.at(source.label(i));
  return counts;
}

}  // namespace

Report write_pack(Source& source, const fs::path& target, const std::function<void(std::uint64_t)>& progress) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(target, error))) {
    throw Error(ErrorKind::kUsage, target.string() + " is there already: remove it, or choose another name");
  }
  demand_room(source, target);
  TarWriter tar(target);
  const std::string head = write_pack_head(source.classes(), count(source));
  tar.add(kPackHead, {reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
  for (std::uint64_t i = 0; i < source.items(); ++i) {
    const Item item = source.item(i);
    tar.add(item.name, item.bytes);
    progress(i + 1);
  }
  Report report{
      .samples = source.items(), .classes = source.classes().size(), .bytes = tar.finish(), .dataset_digest = {}};
  // Read as a feed reads it: what is printed is what will be there.
  report.dataset_digest = dataset_digest(scan_data(target));
  return report;
}

}  // namespace feedring::pack
