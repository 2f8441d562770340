// SPDX-License-Identifier: Apache-2.0
// The seek index of one picture, in the memory of a test.
#pragma once

#include <vector>

#include "producers/decode/seekjpeg/entry.hpp"

namespace feedring::test {

class OneShelf : public seekjpeg::Shelf {
 public:
  std::span<const seekjpeg::Entry> find(std::size_t) override { return entries; }
  bool wants(std::size_t) override { return true; }
  void keep(std::span<const seekjpeg::Entry> made) override { entries.assign(made.begin(), made.end()); }

  std::vector<seekjpeg::Entry> entries;  ///< empty: none yet
};

}  // namespace feedring::test
