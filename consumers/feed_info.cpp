// SPDX-License-Identifier: Apache-2.0
#include "consumers/feed_info.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>
#include <nlohmann/json.hpp>

namespace feedring {
namespace {

[[noreturn]] void refuse(const FeedInfo& info, const std::string& why) {
  throw Error(ErrorKind::kRefused,
              fmt::format("{}: the pool's description of the feed is not what this build understands "
                          "({}); pool and trainer must come from one build of feedring",
                          info.what(), why));
}

Remainder to_remainder(const FeedInfo& info, const std::string& word) {
  if (word == "drop") return Remainder::kDrop;
  if (word == "pad") return Remainder::kPad;
  if (word == "exact") return Remainder::kExact;
  refuse(info, "remainder " + word);
}

}  // namespace

std::string FeedInfo::what() const { return fmt::format("feed '{}', rank {}", name, launch.rank); }

CursorSpec FeedInfo::cursor() const {
  return {samples,
          sharded ? launch.world : 1,
          sharded ? launch.rank : 0,
          batch_size,
          remainder,
          seed,
          repeat,
          auto_epoch,
          spec_hash,
          dataset_digest};
}

FeedInfo read_feed_info(const nlohmann::json& reply, const std::string& name, const Launch& launch) {
  FeedInfo info;
  info.name = name;
  info.launch = launch;
  try {
    const auto& feed = reply.at("feed");
    info.batch_size = feed.at("batch_size").get<std::uint32_t>();
    info.slots = feed.at("slots").get<std::uint32_t>();
    info.seed = feed.at("seed").get<std::uint64_t>();
    info.remainder = to_remainder(info, feed.at("remainder").get<std::string>());
    info.error_budget = feed.at("error_budget").get<double>();
    info.repeat = feed.at("repeat").get<bool>();
    info.auto_epoch = feed.at("auto_epoch").get<bool>();
    info.sharded = feed.at("shard").get<std::string>() != "none";
    info.samples = reply.at("samples").get<std::uint64_t>();
    info.classes = reply.at("classes").get<std::uint64_t>();
    info.spec_hash = reply.at("spec_hash").get<std::string>();
    info.dataset_digest = reply.at("digest").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    refuse(info, error.what());
  }
  return info;
}

}  // namespace feedring
