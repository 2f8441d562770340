// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/episode_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>

#include "producers/config/episode_file.hpp"

namespace feedring {
namespace {

// A number of a request, which may hold anything.
std::uint64_t number_in(const nlohmann::json& request, const char* key) {
  const auto found = request.find(key);
  if (found != request.end() && found->is_number_unsigned()) return found->get<std::uint64_t>();
  throw Error(ErrorKind::kRefused, fmt::format("a request for an episode gives no whole number as {}", key));
}

}  // namespace

const NodeFeed& EpisodeAnswers::feed_in(const nlohmann::json& request) const {
  const std::string name = request.value("feed", "");
  const auto feed = std::find_if(feeds_.begin(), feeds_.end(), [&](const NodeFeed& f) { return f.spec.name == name; });
  if (feed == feeds_.end()) throw Error(ErrorKind::kUsage, fmt::format("this pool has no feed '{}'", name));
  if (!feed->spec.episodes)
    throw Error(ErrorKind::kUsage, fmt::format("feed '{}' delivers no episodes, so that none can be asked for", name));
  return *feed;
}

nlohmann::json EpisodeAnswers::data(const nlohmann::json& request, std::vector<int>& descriptors) const {
  const NodeFeed& feed = feed_in(request);
  descriptors.push_back(feed.index_fd.get());
  if (feed.episodes_fd) descriptors.push_back(feed.episodes_fd.get());
  return {{"ok", true}, {"number", &feed - feeds_.data()}, {"spec", to_json(feed.asked)}};
}

nlohmann::json EpisodeAnswers::answer(const nlohmann::json& request, std::size_t most) {
  const NodeFeed& feed = feed_in(request);
  const std::string& name = feed.spec.name;
  const EpisodeKey key{number_in(request, "seed"), number_in(request, "epoch"), number_in(request, "ordinal")};
  if (key.ordinal >= feed.ordinals) {
    throw Error(ErrorKind::kUsage, fmt::format("feed '{}' has the episodes 0 to {} in an epoch, and no {}", name,
                                               feed.ordinals - 1, key.ordinal));
  }
  const auto [of, is_new] = asked_.try_emplace(&feed, feed.spec, feed.index);
  nlohmann::ordered_json line{{"epoch", key.epoch}, {"ordinal", key.ordinal}};
  put_episode(line, of->second.episode(key), feed.spec.episodes->unlabelled);
  nlohmann::json reply = {{"ok", true}, {"episode", line}};
  if (reply.dump().size() > most) {
    throw Error(ErrorKind::kUsage, fmt::format("episode {} of feed '{}' is too large for an answer of the pool: "
                                               "`feedring dump` lists it",
                                               key.ordinal, name));
  }
  return reply;
}

}  // namespace feedring
