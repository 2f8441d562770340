// SPDX-License-Identifier: Apache-2.0
// What Meta-Dataset's records hold: tf.train.Example, in protocol buffers' wire format. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace feedring::pack {

struct TfExample {
  std::optional<std::string_view> image;  ///< of the feature `image`; within the record
  std::optional<std::int64_t> label;      ///< of the feature `label`
};

/// nullopt: the record is damaged. Features of other names, and of other kinds, are passed over.
[[nodiscard]] std::optional<TfExample> read_tf_example(std::string_view record);

}  // namespace feedring::pack
