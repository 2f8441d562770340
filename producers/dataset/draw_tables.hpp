// SPDX-License-Identifier: Apache-2.0
// By what samples are drawn where not all are alike: a part of the index.
#pragma once

#include <cstdint>
#include <vector>

namespace feedring {

/// Members of a data set that share the places of an epoch among them (plan/mixed_order.hpp says how): numbers [begin,
/// end) of `members`, and places up to `share_end` of a block.
struct Source {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t share_end = 0;
};

/// All empty: every sample once an epoch.
struct DrawTables {
  std::vector<std::uint64_t> sums;     ///< per sample, whole weights up to and with its own; the last above 0
  std::vector<Source> sources;         ///< or these, none of them empty or without a share
  std::vector<std::uint64_t> members;  ///< numbers of samples, source by source
};

}  // namespace feedring
