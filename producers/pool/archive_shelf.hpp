// SPDX-License-Identifier: Apache-2.0
// The archives that a producer has open: opened when first needed, and kept, but not more than a few.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "producers/dataset/index.hpp"
#include "producers/decode/image.hpp"
#include "runtime/memfd.hpp"

namespace feedring {

struct OpenArchive {
  std::uint64_t number = 0;
  UniqueFd file;
  std::uint64_t bytes = 0;
  Fault fault;  ///< why it cannot be read: it is gone, or another one than when the data was scanned
};

/// One feed's. For one thread; what it gives out may be read by others, and stays open as long as they hold it.
class ArchiveShelf {
 public:
  /// Never nullptr. `directory`: what the index's root is open as.
  [[nodiscard]] std::shared_ptr<const OpenArchive> open(int directory, const Index& index, std::uint64_t number);

 private:
  std::deque<std::shared_ptr<const OpenArchive>> opened_;  // the last used one in front
};

}  // namespace feedring
