// SPDX-License-Identifier: Apache-2.0
// Going on with a pack where an interrupted import left it. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "producers/pack/checksum.hpp"
#include "producers/pack/journal.hpp"
#include "producers/pack/source.hpp"
#include "producers/pack/tar_writer.hpp"

namespace feedring::pack {

/// The names of a source's items, each asked for once, and a checksum of them and of where they come from.
class ItemNames {
 public:
  explicit ItemNames(Source& source) : source_(source) {}

  /// In the order of the numbers, any number of times since the last forget().
  const std::string& name(std::uint64_t number);
  /// To be called before the item is read: takes its name, and its origin as that is now, into the checksum.
  void note(std::uint64_t number);
  /// The checksum of those noted since it was taken before.
  [[nodiscard]] std::string take_checksum() { return sum_.take(); }
  /// Those before `first` are not asked about any more.
  void forget(std::uint64_t first);

 private:
  const std::string& stamp(std::uint64_t number);

  Source& source_;
  Checksum sum_;
  std::uint64_t first_ = 0;
  std::vector<std::string> names_;  // from first_ on
  std::string stamp_;
};

/// Compares what an earlier import wrote, by its journal, with the source and with itself; cuts both to what holds.
/// Returns how many items there are.
[[nodiscard]] std::uint64_t resume(TarWriter& tar, Journal& journal, ItemNames& names, const Source& source);

}  // namespace feedring::pack
