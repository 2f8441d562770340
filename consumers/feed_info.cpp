// SPDX-License-Identifier: Apache-2.0
#include "consumers/feed_info.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/contract.hpp"

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

// Not get() alone, which makes 2^32 - 1 of -1, 1 of 1.5 and 4 of 2^32 + 4.
template <class Number>
void read_number(const FeedInfo& info, const nlohmann::json& from, const char* key, Number& number) {
  const auto& value = from.at(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<Number>::max()) {
    refuse(info, fmt::format("{} {}", key, value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  }
  number = value.get<Number>();
}

FinishInfo read_finish(const FeedInfo& info, const nlohmann::json& finish) {
  FinishInfo read;
  FinishTable& table = read.table;
  const std::string dtype = finish.at("dtype").get<std::string>();
  bool known = false;
  for (const Dtype each : kImageDtypes) {
    if (dtype != name_of(each)) continue;
    table.dtype = each;
    known = true;
  }
  const std::string layout = finish.at("layout").get<std::string>();
  if (!known || (layout != name_of(Layout::kNhwc) && layout != name_of(Layout::kNchw)))
    refuse(info, fmt::format("finish {} {}", dtype, layout));
  table.layout = layout == name_of(Layout::kNhwc) ? Layout::kNhwc : Layout::kNchw;
  const auto& bits = finish.at("bits");
  if (!bits.is_array() || bits.size() != table.bits.size()) refuse(info, "a finish without 768 values");
  for (std::size_t i = 0; i < table.bits.size(); ++i) {
    if (!bits[i].is_number_unsigned() || bits[i].get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
      refuse(info, "a finish with a value that is no 32 bit number");
    table.bits[i] = bits[i].get<std::uint32_t>();
  }
  for (const nlohmann::json& images : finish.at("images"))
    read.images.push_back({images.at("name").get<std::string>(), images.value("mask", "")});
  if (read.images.empty() || read.images.size() > contract::kMaxTensors) refuse(info, "a finish of no images");
  return read;
}

}  // namespace

std::string FeedInfo::what() const { return fmt::format("feed '{}', rank {}", name, launch.rank); }

CursorSpec FeedInfo::cursor() const {
  return {ordinals,
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
    read_number(info, feed, "batch_size", info.batch_size);
    read_number(info, feed, "slots", info.slots);
    read_number(info, feed, "seed", info.seed);
    info.remainder = to_remainder(info, feed.at("remainder").get<std::string>());
    info.error_budget = feed.at("error_budget").get<double>();
    if (!(info.error_budget >= 0 && info.error_budget <= 1)) refuse(info, "error_budget outside of 0 to 1");
    info.repeat = feed.at("repeat").get<bool>();
    info.auto_epoch = feed.at("auto_epoch").get<bool>();
    info.sharded = feed.at("shard").get<std::string>() != "none";
    read_number(info, reply, "samples", info.samples);
    read_number(info, reply, "ordinals", info.ordinals);
    read_number(info, reply, "classes", info.classes);
    info.spec_hash = reply.at("spec_hash").get<std::string>();
    info.dataset_digest = reply.at("digest").get<std::string>();
    if (const auto finish = reply.find("finish"); finish != reply.end()) info.finish = read_finish(info, *finish);
    nlohmann::json description = feed;
    if (const auto producers = reply.find("producers"); producers != reply.end()) description["producers"] = *producers;
    info.description = description.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  } catch (const nlohmann::json::exception& error) {
    refuse(info, error.what());
  }
  return info;
}

}  // namespace feedring
