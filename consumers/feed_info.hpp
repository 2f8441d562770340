// SPDX-License-Identifier: Apache-2.0
// What a rank knows of its feed and of itself once it is attached. Values only.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "consumers/cursor.hpp"
#include "runtime/finish_table.hpp"
#include "runtime/launch_env.hpp"

namespace feedring {

/// What the device has to do to the images of a batch.
struct FinishInfo {
  FinishTable table;
  struct Images {
    std::string name;  ///< of the tensor
    std::string mask;  ///< of the tensor that has 0 where an image is zeros; empty: its row's status says that
  };
  std::vector<Images> images;
};

struct FeedInfo {
  std::string name;
  Launch launch;
  std::uint32_t batch_size = 0;
  std::uint32_t slots = 0;
  std::uint64_t samples = 0;   ///< of the data set
  std::uint64_t ordinals = 0;  ///< of an epoch: samples, or episodes
  std::uint64_t classes = 0;
  std::uint64_t seed = 0;
  Remainder remainder = Remainder::kDrop;
  double error_budget = 0;  ///< share of an epoch's samples
  bool repeat = true;
  bool auto_epoch = true;
  bool sharded = true;  ///< false: every rank sees all (shard = "none")
  std::string spec_hash;
  std::string dataset_digest;
  std::string description;  ///< Feed::description()
  std::string pool;         ///< where the pool listens
  std::optional<FinishInfo> finish;

  /// "feed 'train', rank 1": how errors begin.
  [[nodiscard]] std::string what() const;
  [[nodiscard]] CursorSpec cursor() const;
};

/// From the pool's answer to {"op": "attach", …}. Throws Error(kRefused) where it is not what this build understands.
[[nodiscard]] FeedInfo read_feed_info(const nlohmann::json& reply, const std::string& name, const Launch& launch);

}  // namespace feedring
