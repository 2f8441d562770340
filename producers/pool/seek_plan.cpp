// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/seek_plan.hpp"

#include <algorithm>
#include <map>

namespace feedring {
namespace {

// Photographs of 110 KB need a sixty-fourth of their bytes, small pictures more. Pages are taken only as they are
// filled.
constexpr std::uint64_t kBytesForIndex = 32;
constexpr std::uint64_t kForEach = 64;
constexpr std::uint64_t kShareOfRoom = 8;

// The digest knows names and sizes of files; the folder tells which files those are.
std::string key_of(const Index& index) { return index.digest() + index.origin(); }

std::uint64_t need_of(const Index& index) {
  std::uint64_t bytes = 0;
  for (std::uint64_t sample = 0; sample < index.size(); ++sample) bytes += index.bytes(sample);
  return bytes / kBytesForIndex + index.size() * kForEach;
}

}  // namespace

std::vector<SeekPlan> plan_seek_stores(const std::vector<NodeFeed>& feeds, std::optional<std::uint64_t> asked,
                                       std::uint64_t room) {
  std::vector<SeekPlan> plans;
  std::map<std::string, std::size_t> places;
  std::uint64_t total = 0;
  for (const NodeFeed& feed : feeds) {
    // Of what is kept decoded, or is no file, no scan is read twice.
    if (feed.spec.own || feed.spec.cache == Cache::kDecoded) continue;
    const auto [place, fresh] = places.try_emplace(key_of(feed.index), plans.size());
    if (fresh) {
      plans.push_back({{}, {.samples = feed.index.size(), .record_bytes = need_of(feed.index)}});
      total += plans.back().layout.record_bytes;
    }
    plans[place->second].feeds.push_back(feed.spec.name);
  }
  const std::uint64_t most = asked.value_or(std::min(total, room / kShareOfRoom));
  if (most == 0 || total == 0) return {};
  for (SeekPlan& plan : plans) {
    const double share = static_cast<double>(plan.layout.record_bytes) / static_cast<double>(total);
    plan.layout =
        lay_out_seek_store(plan.layout.samples, static_cast<std::uint64_t>(static_cast<double>(most) * share));
  }
  return plans;
}

}  // namespace feedring
