// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/node_stores.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <map>

#include "producers/config/words.hpp"
#include "producers/transform/transform.hpp"
#include "runtime/memory_limits.hpp"
#include "runtime/reserve.hpp"

namespace feedring {
namespace {

// Whatever a sample's picture depends on, and whether there is one.
std::string key_of(const NodeFeed& feed) {
  const Chain chain = Chain::parse(feed.spec.transform);
  nlohmann::json steps = nlohmann::json::array();
  for (std::size_t i = 0; i < chain.geometric_steps(); ++i) steps.push_back(chain.canonical()[i]);
  const nlohmann::json key = {
      {"dataset", feed.index.digest()},
      {"accept_damaged", feed.spec.accept_damaged},
      {"exif_orientation", feed.spec.exif_orientation},
      {"background", feed.spec.background ? nlohmann::json(*feed.spec.background) : nlohmann::json()},
      {"max_pixels", feed.spec.max_pixels},
      {"steps", steps}};
  // The digest knows names and sizes of files, not what is in them.
  return key.dump() + feed.index.origin();
}

template <class Made>
std::optional<std::size_t> place_of(const std::string& feed, const std::vector<Made>& stores) noexcept {
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const std::vector<std::string>& feeds = stores[i].plan.feeds;
    if (std::find(feeds.begin(), feeds.end(), feed) != feeds.end()) return i;
  }
  return std::nullopt;
}

}  // namespace

std::vector<StorePlan> plan_stores(const std::vector<NodeFeed>& feeds) {
  struct Wanted {
    std::uint64_t samples;
    std::uint64_t picture_bytes;
    std::vector<std::string> feeds;
    std::vector<ClassAugment> turns;
  };
  std::vector<Wanted> wanted;
  std::map<std::string, std::size_t> places;
  for (const NodeFeed& feed : feeds) {
    if (feed.spec.cache != Cache::kDecoded || feed.spec.own) continue;
    const auto [place, fresh] = places.try_emplace(key_of(feed), wanted.size());
    const NodeView& picture = feed.views.front();
    if (fresh) wanted.push_back({feed.index.size(), std::uint64_t{picture.height} * picture.width * 3, {}, {}});
    Wanted& store = wanted[place->second];
    store.feeds.push_back(feed.spec.name);
    if (!feed.spec.episodes) continue;
    for (const ClassAugment turn : feed.spec.episodes->augment) {
      if (std::find(store.turns.begin(), store.turns.end(), turn) == store.turns.end()) store.turns.push_back(turn);
    }
  }
  std::vector<StorePlan> plans;
  for (Wanted& store : wanted)
    plans.push_back(
        {std::move(store.feeds), lay_out_store(store.samples, store.picture_bytes, std::move(store.turns))});
  return plans;
}

void NodeStores::make(const std::vector<StorePlan>& plans, const std::vector<SeekPlan>& seek_plans) {
  for (const StorePlan& plan : plans) {
    UniqueFd fd = create_memfd(fmt::format("feedring-store-{}", plan.feeds.front()).c_str(), plan.layout.bytes);
    if (!reserve_pages(fd.get(), plan.layout.bytes)) {
      throw Error(
          ErrorKind::kMemory,
          fmt::format("the store of feed '{}' needs {} for {} decoded pictures and the system ended the attempt "
                      "to reserve it: too little memory is free; leave out cache = \"decoded\", or make the "
                      "pictures smaller",
                      plan.feeds.front(), human_bytes(plan.layout.bytes), plan.layout.entries()));
    }
    seal_size(fd.get());
    auto store = std::make_unique<DecodedStore>(fd.get(), plan.layout, contract::kNobody);
    stores_.push_back({plan, std::move(fd), std::move(store)});
  }
  for (const SeekPlan& plan : seek_plans) {
    UniqueFd fd = create_memfd(fmt::format("feedring-seek-{}", plan.feeds.front()).c_str(), plan.layout.bytes);
    seal_size(fd.get());
    auto store = std::make_unique<SeekStore>(fd.get(), plan.layout, contract::kNobody);
    seek_.push_back({plan, std::move(fd), std::move(store)});
  }
}

std::optional<std::size_t> NodeStores::store_of(const std::string& feed) const noexcept {
  return place_of(feed, stores_);
}

std::optional<std::size_t> NodeStores::seek_of(const std::string& feed) const noexcept { return place_of(feed, seek_); }

void NodeStores::sweep(contract::Claimant dead) {
  for (Made& made : stores_) made.left_by_deaths += made.store->words().sweep(dead);
  for (MadeSeek& made : seek_) made.left_by_deaths += made.store->words().sweep(dead);
}

nlohmann::json NodeStores::status() const {
  nlohmann::json list = nlohmann::json::array();
  for (const Made& made : stores_) {
    list.push_back({{"feeds", made.plan.feeds},
                    {"samples", made.plan.layout.entries()},
                    {"filled", made.store->words().filled()},
                    {"bytes", made.plan.layout.bytes},
                    {"left_by_deaths", made.left_by_deaths}});
  }
  return list;
}

nlohmann::json NodeStores::seek_status() const {
  nlohmann::json list = nlohmann::json::array();
  for (const MadeSeek& made : seek_) {
    list.push_back({{"feeds", made.plan.feeds},
                    {"samples", made.plan.layout.samples},
                    {"filled", made.store->words().filled()},
                    {"bytes", made.plan.layout.record_bytes},
                    {"taken_bytes", std::min(made.store->taken(), made.plan.layout.record_bytes)},
                    {"left_by_deaths", made.left_by_deaths}});
  }
  return list;
}

nlohmann::json to_json(const StoreLayout& layout) {
  nlohmann::json turns = nlohmann::json::array();
  for (const ClassAugment turn : layout.turns) turns.push_back(to_word(turn));
  return {{"samples", layout.samples}, {"picture_bytes", layout.picture_bytes}, {"turns", turns}};
}

StoreLayout store_layout_from_json(const nlohmann::json& json) {
  std::vector<ClassAugment> turns;
  for (const nlohmann::json& word : json.at("turns")) {
    const std::optional<ClassAugment> turn = from_word<ClassAugment>(word.get<std::string>());
    if (!turn)
      throw Error(ErrorKind::kInternal, "the description of a store holds a turn that this build does not know");
    turns.push_back(*turn);
  }
  return lay_out_store(json.at("samples").get<std::uint64_t>(), json.at("picture_bytes").get<std::uint64_t>(),
                       std::move(turns));
}

nlohmann::json to_json(const SeekLayout& layout) {
  return {{"samples", layout.samples}, {"record_bytes", layout.record_bytes}};
}

SeekLayout seek_layout_from_json(const nlohmann::json& json) {
  return lay_out_seek_store(json.at("samples").get<std::uint64_t>(), json.at("record_bytes").get<std::uint64_t>());
}

}  // namespace feedring
