// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>

#include "runtime/memory_limits.hpp"

namespace feedring {
namespace {

// Measured on a producer that decodes photographs (`feedring bench`, USS beside the memfds), rounded up.
constexpr std::uint64_t kProducerBytes = 12ULL << 20;
// What everybody else on the machine may want while we start.
constexpr std::uint64_t kMargin = 16ULL << 20;

}  // namespace

MemoryPlan plan_memory(const std::vector<NodeFeed>& feeds, const std::vector<StorePlan>& stores,
                       const std::vector<SeekPlan>& seek, std::uint32_t ranks, std::uint32_t producers) {
  MemoryPlan plan;
  plan.ranks = ranks;
  plan.producers = producers;
  plan.producer_bytes = producers * kProducerBytes;
  plan.total = plan.producer_bytes;
  for (const NodeFeed& feed : feeds) {
    const contract::RingShape shape = ring_shape_of(feed, producers, std::max(ranks, 1U));
    plan.feeds.push_back({feed.spec.name, shape.bytes, size_of(feed.index_fd.get()), feed.spec.slots,
                          feed.spec.batch_size, feed.spec.episodes.has_value()});
    plan.total += ranks * shape.bytes;
    // The supervisor, every producer and one rank map each ring.
    plan.page_table_bytes += ranks * ((producers + 2) * page_table_bytes(shape.bytes) + page_index_bytes(shape.bytes));
  }
  // The supervisor and every producer map each store.
  const auto add_store = [&](std::uint64_t bytes, std::uint64_t& sum) {
    sum += bytes;
    plan.page_table_bytes += (producers + 1) * page_table_bytes(bytes) + page_index_bytes(bytes);
  };
  plan.stores = stores;
  for (const StorePlan& store : stores) add_store(store.layout.bytes, plan.store_bytes);
  plan.seek = seek;
  for (const SeekPlan& store : seek) add_store(store.layout.bytes, plan.seek_bytes);
  plan.total += plan.store_bytes + plan.seek_bytes + plan.page_table_bytes;
  return plan;
}

MemoryPlan plan_start(const std::vector<NodeFeed>& feeds, const PoolSpec& pool, std::uint32_t ranks,
                      std::uint32_t producers) {
  const std::vector<StorePlan> stores = plan_stores(feeds);
  const std::uint64_t rest = plan_memory(feeds, stores, {}, ranks, producers).total + kMargin;
  const std::uint64_t most = std::min(memory_headroom().bytes, pool.memory_limit.value_or(UINT64_MAX));
  return plan_memory(feeds, stores, plan_seek_stores(feeds, pool.seek_index, most - std::min(most, rest)), ranks,
                     producers);
}

std::optional<std::string> misfit(const MemoryPlan& plan, std::optional<std::uint64_t> extra_limit) {
  const auto sentence = [&](std::uint64_t free, const std::string& limit) {
    std::string of_stores;
    std::string without;
    if (!plan.stores.empty()) {
      of_stores = fmt::format(" ({} of them to keep decoded pictures)", human_bytes(plan.store_bytes));
      without = fmt::format("leave out cache = \"decoded\" of feed '{}', or make its pictures smaller; or ",
                            plan.stores.front().feeds.front());
    } else if (plan.seek_bytes > plan.total / 2) {
      of_stores = fmt::format(" ({} of them for seek indices)", human_bytes(plan.seek_bytes));
      without = "lower seek_index; or ";
    }
    return fmt::format(
        "the pool needs {}{} for {} rank(s) and {} producer(s) and {} are free by {}; {}lower slots, "
        "batch_size or producers{}",
        human_bytes(plan.total), of_stores, plan.ranks, plan.producers, human_bytes(free), limit, without,
        extra_limit ? ", or raise memory_limit" : "");
  };
  if (extra_limit && plan.total > *extra_limit) return sentence(*extra_limit, "[pool] memory_limit");
  const MemoryHeadroom room = memory_headroom();
  if (plan.total + kMargin > room.bytes) return sentence(room.bytes, room.limit);
  return std::nullopt;
}

void demand_memory(const MemoryPlan& plan, std::optional<std::uint64_t> extra_limit) {
  if (const auto sentence = misfit(plan, extra_limit)) throw Error(ErrorKind::kMemory, *sentence);
}

std::string to_text(const MemoryPlan& plan) {
  std::string text;
  for (const MemoryPlan::FeedPart& feed : plan.feeds) {
    text += fmt::format("feed {}: {} rank(s) x {} ({} slots of {} {}), index {}\n", feed.name, plan.ranks,
                        human_bytes(feed.ring_bytes), feed.slots, feed.batch_size,
                        feed.episodes ? "episode(s)" : "samples", human_bytes(feed.index_bytes));
  }
  for (const StorePlan& store : plan.stores) {
    text += fmt::format("store of {}: {} for {} decoded pictures\n", fmt::join(store.feeds, ", "),
                        human_bytes(store.layout.bytes), store.layout.entries());
  }
  for (const SeekPlan& store : plan.seek) {
    text += fmt::format("seek indices of {}: {} at most for {} pictures\n", fmt::join(store.feeds, ", "),
                        human_bytes(store.layout.bytes), store.layout.samples);
  }
  text += fmt::format("producers: {} x {} at most, page tables {}\n", plan.producers, human_bytes(kProducerBytes),
                      human_bytes(plan.page_table_bytes));
  text += fmt::format("total: {}\n", human_bytes(plan.total));
  return text;
}

std::string to_line(const MemoryPlan& plan) {
  std::string rings;
  for (const MemoryPlan::FeedPart& feed : plan.feeds)
    rings += fmt::format("{}{} {}", rings.empty() ? "" : ", ", feed.name, human_bytes(feed.ring_bytes));
  const MemoryHeadroom room = memory_headroom();
  return fmt::format("memory {}: {} rank(s) x ({}), {}{} producer(s); {} free by {}", human_bytes(plan.total),
                     plan.ranks, rings,
                     plan.stores.empty() ? "" : fmt::format("{} of decoded pictures, ", human_bytes(plan.store_bytes)),
                     plan.producers, human_bytes(room.bytes), room.limit);
}

nlohmann::json to_json(const MemoryPlan& plan) {
  nlohmann::json feeds = nlohmann::json::array();
  for (const MemoryPlan::FeedPart& feed : plan.feeds) {
    feeds.push_back({{"name", feed.name},
                     {"ring_bytes", feed.ring_bytes},
                     {"index_bytes", feed.index_bytes},
                     {"slots", feed.slots},
                     {"batch_size", feed.batch_size}});
  }
  nlohmann::json stores = nlohmann::json::array();
  for (const StorePlan& store : plan.stores) {
    stores.push_back(
        {{"feeds", store.feeds}, {"samples", store.layout.entries()}, {"store_bytes", store.layout.bytes}});
  }
  nlohmann::json seek = nlohmann::json::array();
  for (const SeekPlan& store : plan.seek) {
    seek.push_back({{"feeds", store.feeds}, {"samples", store.layout.samples}, {"seek_bytes", store.layout.bytes}});
  }
  return {{"ranks", plan.ranks},
          {"producers", plan.producers},
          {"feeds", feeds},
          {"stores", stores},
          {"store_bytes", plan.store_bytes},
          {"seek_indices", seek},
          {"seek_bytes", plan.seek_bytes},
          {"producer_bytes", plan.producer_bytes},
          {"page_table_bytes", plan.page_table_bytes},
          {"total_bytes", plan.total}};
}

}  // namespace feedring
