// SPDX-License-Identifier: Apache-2.0
// The stores of a node, one for all feeds that make the same pictures of the same data: planned before anything starts,
// made by the supervisor, handed to every producer, and to no rank.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "producers/pool/decoded_store.hpp"
#include "producers/pool/node_feed.hpp"

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

  /// Reserves all pages, as for rings. Throws Error(kMemory | kInternal).
  void make(const std::vector<StorePlan>& plans);

  [[nodiscard]] const std::vector<Made>& all() const noexcept { return stores_; }
  /// Of a feed by its name.
  [[nodiscard]] std::optional<std::size_t> store_of(const std::string& feed) const noexcept;
  /// Opens the entries that a producer was filling. Precondition: its death is confirmed.
  void sweep(contract::Claimant dead);
  [[nodiscard]] nlohmann::json status() const;

 private:
  std::vector<Made> stores_;
};

/// How the supervisor tells a producer of a store, and what the producer makes of it.
[[nodiscard]] nlohmann::json to_json(const StoreLayout& layout);
[[nodiscard]] StoreLayout store_layout_from_json(const nlohmann::json& json);

}  // namespace feedring
