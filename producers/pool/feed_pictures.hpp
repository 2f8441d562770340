// SPDX-License-Identifier: Apache-2.0
// Which pictures a feed of files makes of each sample: the tensors of its batches, and what of them is left to a
// device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "producers/config/feed_spec.hpp"
#include "runtime/finish_table.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {

/// A tensor of pictures of a feed of files.
struct NodeView {
  std::string name;
  std::optional<std::uint32_t> count;  ///< as in ViewSpec
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  Dtype dtype = Dtype::kUint8;
};

struct FeedPictures {
  FeedSpec spec;   ///< what producers make
  FeedSpec asked;  ///< what the configuration says
  std::optional<FinishTable> finish;
  std::vector<NodeView> views;
};

/// Throws Error(kUsage) for a bad chain, and for what does not go with its random steps or with several views.
[[nodiscard]] FeedPictures pictures_of(const FeedSpec& spec);

/// The tensors of a slot, whose names lie in `views` and `columns`.
[[nodiscard]] std::vector<TensorSpec> tensors_of(const std::vector<NodeView>& views,
                                                 const std::vector<ColumnSpec>& columns, Layout layout);

}  // namespace feedring
