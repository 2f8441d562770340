// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/resume.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

namespace feedring::pack {

const std::string& ItemNames::name(std::uint64_t number) {
  while (first_ + names_.size() <= number) names_.push_back(source_.name(first_ + names_.size()));
  return names_.at(number - first_);
}

const std::string& ItemNames::stamp(std::uint64_t number) {
  const std::filesystem::path origin = source_.origin(number);
  struct stat info {};
  stamp_ = ::stat(origin.c_str(), &info) != 0 ? "gone"
                                              : fmt::format("{} {} {}.{:09} {}", origin.native(), info.st_size,
                                                            info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ino);
  return stamp_;
}

void ItemNames::note(std::uint64_t number) {
  for (const std::string* text : {&name(number), &stamp(number)}) {
    sum_.add(*text);
    sum_.add({"\0", 1});
  }
}

void ItemNames::forget(std::uint64_t first) {
  if (first <= first_) return;
  names_.erase(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(first - first_));
  first_ = first;
}

std::uint64_t resume(TarWriter& tar, Journal& journal, ItemNames& names, const Source& source) {
  Checkpoint before;
  std::size_t kept = 0;
  for (const Checkpoint& next : journal.found()) {
    if (next.items > source.items() || next.end > tar.found_bytes()) break;
    for (std::uint64_t number = before.items; number < next.items; ++number) names.note(number);
    if (names.take_checksum() != next.source) break;
    if (tar.checksum(before.end, next.end) != next.pack) break;
    names.forget(next.items);
    before = next;
    ++kept;
  }
  journal.keep(kept);
  tar.cut(before.end);
  return before.items;
}

}  // namespace feedring::pack
