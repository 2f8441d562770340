// SPDX-License-Identifier: Apache-2.0
// What a pool answers when a rank asks for one episode by its ordinal: the plan of it, without pixels; and for what
// it takes to make those.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "producers/pool/episode_feed.hpp"
#include "producers/pool/node_feed.hpp"

namespace feedring {

class EpisodeAnswers {
 public:
  /// Keeps the reference.
  explicit EpisodeAnswers(const std::vector<NodeFeed>& feeds) : feeds_(feeds) {}

  /// {"ok": true, "episode": {"epoch", "ordinal", "classes", "support", "query", "label_map", …}} for a request
  /// {"feed", "seed", "epoch", "ordinal"}. Throws Error(kUsage) for a feed without episodes, an ordinal beyond the
  /// epoch, and an episode that makes more than `most` bytes of text.
  [[nodiscard]] nlohmann::json answer(const nlohmann::json& request, std::size_t most);

  /// {"ok": true, "number", "spec"} for a request {"feed"}; what spec_in() takes is added to `descriptors`, behind the
  /// feed's index. Throws Error(kUsage) for a feed without episodes.
  [[nodiscard]] nlohmann::json data(const nlohmann::json& request, std::vector<int>& descriptors) const;

 private:
  [[nodiscard]] const NodeFeed& feed_in(const nlohmann::json& request) const;

  const std::vector<NodeFeed>& feeds_;
  std::map<const NodeFeed*, EpisodeFeed> asked_;  ///< made when a feed is asked for first
};

}  // namespace feedring
