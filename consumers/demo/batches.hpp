// SPDX-License-Identifier: Apache-2.0
// All that the trainer knows of feedring: a feed, and its batches as LibTorch tensors.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <feedring/feed.hpp>
#include <feedring/torch.hpp>
#include <optional>
#include <string>

namespace feedring::demo {

struct Batch {
  at::Tensor images;      ///< uint8, (rows, 3, height, width): a view of the rank's slot, which it keeps; drop it soon
  at::Tensor labels;      ///< int64, a copy, as the rest
  at::Tensor valid;       ///< bool: false for rows that only fill up the last step, and for pictures that failed
  at::Tensor sample_ids;  ///< int64, of the rows that are this rank's share of the step; not of those that fill up
};

class Batches {
 public:
  explicit Batches(const std::string& name) : feed_(Feed::attach({.name = name})) {}

  /// nullopt once at the end of each epoch.
  std::optional<Batch> next() {
    auto batch = feed_.next();
    if (!batch) return std::nullopt;
    return Batch{to_tensor(*batch, "images"), to_tensor(*batch, "labels").clone(),
                 to_tensor(*batch, "valid").to(at::kBool),
                 to_tensor(*batch, "sample_ids").narrow(0, 0, batch->valid_rows()).clone()};
  }

  [[nodiscard]] std::int64_t samples() const { return static_cast<std::int64_t>(feed_.samples()); }
  [[nodiscard]] std::int64_t classes() const { return static_cast<std::int64_t>(feed_.classes()); }
  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(feed_.steps_per_epoch()); }

 private:
  Feed feed_;
};

}  // namespace feedring::demo
