// SPDX-License-Identifier: Apache-2.0
// The order of samples that come from several sources by shares: data sets that are mixed, or classes that shall come
// equally often. Exact, not on average: the ordinals of all epochs, one after the other, are cut into blocks of as many
// as all shares together; in each block a source has as many places as its share says, in an order of the block's own;
// and the samples of a source follow its own permutations, one pass after the other. So at a block's end no sample of a
// source has come more than once more than another, whatever the length of an epoch, and each ordinal is found without
// the others.
#pragma once

#include <cstdint>
#include <span>

namespace feedring {

/// Where the samples of a source stand among all members, and its share: the places of a block up to `share_end`, from
/// the end of the source before it. begin < end, and share_end grows.
struct OrderSource {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t share_end = 0;
};

/// What decides which sample stands at an ordinal, beside seed and epoch. The spans have to outlive whoever holds it.
struct SampleOrder {
  std::uint64_t samples = 1;                    ///< of the data set, at least 1
  bool shuffle = true;                          ///< false: in the order of the index, sources by turns
  std::uint64_t per_epoch = 1;                  ///< ordinals of an epoch; other than `samples` only with what follows
  std::span<const std::uint64_t> sums = {};     ///< per sample: whole weights up to and with its own; empty: all alike
  std::span<const OrderSource> sources = {};    ///< empty: one, of all samples
  std::span<const std::uint64_t> members = {};  ///< samples of the sources; empty: the numbers themselves
};

/// The sample at `ordinal` of `epoch`. Precondition: order.sources is not empty.
[[nodiscard]] std::uint64_t mixed_sample(const SampleOrder& order, std::uint64_t seed, std::uint64_t epoch,
                                         std::uint64_t ordinal);

}  // namespace feedring
