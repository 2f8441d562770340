// SPDX-License-Identifier: Apache-2.0
// The stores of a node: decoded pictures, one for all feeds that make the same pictures of the same data, and seek
// indices, one for all feeds of the same data. Planned before anything starts, made by the supervisor, handed to every
// producer, and to no rank.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "producers/pool/decoded_store.hpp"
#include "producers/pool/node_feed.hpp"
#include "producers/pool/seek_plan.hpp"

namespace feedring {

struct StorePlan {
  std::vector<std::string> feeds;  ///< that share it
  StoreLayout layout;
};

/// Of the feeds with cache = "decoded", in the order of the first that uses each. Feeds share one where data, geometric
/// steps and the way files are read agree, whatever they draw. Throws Error(kMemory).
[[nodiscard]] std::vector<StorePlan> plan_stores(const std::vector<NodeFeed>& feeds);

class NodeStores {
 public:
  struct Made {
    StorePlan plan;
    UniqueFd fd;
    std::unique_ptr<DecodedStore> store;
    std::uint64_t left_by_deaths = 0;  ///< entries that a producer was filling when it died
  };

  struct MadeSeek {
    SeekPlan plan;
    UniqueFd fd;
    std::unique_ptr<SeekStore> store;
    std::uint64_t left_by_deaths = 0;
  };

  /// Reserves all pages of decoded pictures, as for rings; seek indices take theirs as they are filled. Throws
  /// Error(kMemory | kInternal).
  void make(const std::vector<StorePlan>& plans, const std::vector<SeekPlan>& seek_plans);

  [[nodiscard]] const std::vector<Made>& all() const noexcept { return stores_; }
  [[nodiscard]] const std::vector<MadeSeek>& all_seek() const noexcept { return seek_; }
  /// Of a feed by its name.
  [[nodiscard]] std::optional<std::size_t> store_of(const std::string& feed) const noexcept;
  [[nodiscard]] std::optional<std::size_t> seek_of(const std::string& feed) const noexcept;
  /// Opens the entries that a producer was filling. Precondition: its death is confirmed.
  void sweep(contract::Claimant dead);
  [[nodiscard]] nlohmann::json status() const;
  [[nodiscard]] nlohmann::json seek_status() const;

 private:
  std::vector<Made> stores_;
  std::vector<MadeSeek> seek_;
};

/// How the supervisor tells a producer of a store, and what the producer makes of it.
[[nodiscard]] nlohmann::json to_json(const StoreLayout& layout);
[[nodiscard]] StoreLayout store_layout_from_json(const nlohmann::json& json);
[[nodiscard]] nlohmann::json to_json(const SeekLayout& layout);
[[nodiscard]] SeekLayout seek_layout_from_json(const nlohmann::json& json);

}  // namespace feedring
