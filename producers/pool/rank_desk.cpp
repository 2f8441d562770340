// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/rank_desk.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <feedring/error.hpp>

#include "producers/pool/episode_layout.hpp"
#include "runtime/process.hpp"

namespace feedring {

namespace {

constexpr std::uint32_t kMaxRanks = 1U << 24;
constexpr std::uint32_t kMaxLocalRanks = 1024;

// A number of a request, which may hold anything. Throws Error(kRefused).
std::uint32_t number_in(const nlohmann::json& request, const char* key, std::uint32_t most) {
  const auto found = request.find(key);
  if (found != request.end() && found->is_number_unsigned() && found->get<std::uint64_t>() <= most)
    return static_cast<std::uint32_t>(found->get<std::uint64_t>());
  throw Error(ErrorKind::kRefused, fmt::format("an attach request gives {} as {}; it must be a number from 0 to {}",
                                               found == request.end() ? "nothing" : found->dump(), key, most));
}

// The tensors that a rank's device finishes, and which says of each image whether it is zeros.
nlohmann::json finished_images(const NodeFeed& feed) {
  nlohmann::json images = nlohmann::json::array();
  if (!feed.spec.episodes) {
    images.push_back({{"name", feed.views.front().name}});
    return images;
  }
  for (const EpisodeImages& each : EpisodePlaces(*feed.spec.episodes, feed.spec.episode_layout).images())
    images.push_back({{"name", kEpisodeColumns[each.column].images}, {"mask", kEpisodeColumns[each.column].mask}});
  return images;
}

}  // namespace

struct RankDesk::Owner {
  explicit Owner(boost::asio::io_context& io) : death(io) {}
  std::uint32_t feed = 0;
  std::uint32_t local_rank = 0;
  std::uint32_t rank = 0;
  std::uint32_t world = 0;
  pid_t pid = 0;
  boost::asio::posix::stream_descriptor death;
};

RankDesk::RankDesk(boost::asio::io_context& io, const std::vector<NodeFeed>& feeds, Rings& rings,
                   std::function<void(std::uint32_t)> make_rings)
    : io_(io), feeds_(feeds), rings_(rings), make_rings_(std::move(make_rings)) {}

RankDesk::~RankDesk() = default;

RankDesk::Attached RankDesk::attach(int socket, const nlohmann::json& request) {
  const std::string name = request.value("feed", "");
  const auto feed = std::find_if(feeds_.begin(), feeds_.end(), [&](const NodeFeed& f) { return f.spec.name == name; });
  if (feed == feeds_.end()) {
    std::string known;
    for (const NodeFeed& f : feeds_) known += (known.empty() ? "" : ", ") + f.spec.name;
    throw Error(ErrorKind::kUsage, fmt::format("the pool has no feed '{}'; it has: {}", name, known));
  }
  const auto number = static_cast<std::uint32_t>(feed - feeds_.begin());
  const std::uint32_t world = number_in(request, "world", kMaxRanks);
  const std::uint32_t rank = number_in(request, "rank", kMaxRanks);
  const std::uint32_t local_rank = number_in(request, "local_rank", kMaxLocalRanks - 1);
  // Absent where the launcher does not say; then one rank at least is here.
  const std::uint32_t said = request.contains("local_world") ? number_in(request, "local_world", kMaxLocalRanks) : 0;
  const std::uint32_t local_world = std::max(said, local_rank + 1);
  if (world == 0 || rank >= world)
    throw Error(ErrorKind::kUsage, fmt::format("rank {} of a world of {} cannot attach", rank, world));

  for (const Owner& owner : owners_) {
    if (is_dead(const_cast<Owner&>(owner).death.native_handle())) continue;  // its watcher has not run yet
    if (owner.feed != number) continue;
    if (owner.local_rank == local_rank) {
      throw Busy(ErrorKind::kRefused,
                 fmt::format("local rank {} of feed '{}' is owned by process {} (rank {}), which is alive; every rank "
                             "needs a local rank of its own",
                             local_rank, name, owner.pid, owner.rank));
    }
    if (owner.world != world) {
      throw Busy(ErrorKind::kRefused,
                 fmt::format("rank {} says that the world size is {}, rank {} (process {}) said {}: "
                             "ranks of one job must agree",
                             rank, world, owner.rank, owner.pid, owner.world));
    }
    if (owner.rank == rank) {
      throw Busy(ErrorKind::kRefused,
                 fmt::format("rank {} of feed '{}' is attached already, as local rank {} (process {})", rank, name,
                             owner.local_rank, owner.pid));
    }
  }
  const Peer peer = peer_of(socket);
  UniqueFd death = peer_pidfd(socket);
  if (!death)
    throw Error(ErrorKind::kPoolGone, fmt::format("rank {} (process {}) died while it attached", rank, peer.pid));
  if (local_world > rings_.ranks()) make_rings_(local_world);

  auto owner = owners_.emplace(owners_.end(), io_);
  owner->feed = number;
  owner->local_rank = local_rank;
  owner->rank = rank;
  owner->world = world;
  owner->pid = peer.pid;
  owner->death.assign(death.release());
  watch(owner);

  const std::size_t place = std::size_t{local_rank} * feeds_.size() + number;
  if (used_.size() <= place) used_.resize(place + 1, false);
  const bool restarted = used_[place];
  used_[place] = true;

  const NodeFeed& node_feed = feeds_[number];
  Attached attached;
  attached.ring_fd = rings_.find(number, local_rank)->fd.get();
  attached.reply = {{"ok", true},
                    {"feed", to_json(node_feed.asked)},
                    {"samples", node_feed.index.size()},
                    {"ordinals", node_feed.ordinals},
                    {"classes", node_feed.index.classes()},
                    {"digest", node_feed.index.digest()},
                    {"spec_hash", node_feed.spec_hash},
                    {"restarted", restarted}};
  if (const auto& finish = node_feed.finish) {
    attached.reply["finish"] = {{"dtype", name_of(finish->dtype)},
                                {"layout", name_of(finish->layout)},
                                {"bits", finish->bits},
                                {"images", finished_images(node_feed)}};
  }
  spdlog::debug("rank {} (process {}) attached to feed '{}'", rank, peer.pid, name);
  return attached;
}

void RankDesk::detach(int socket, const nlohmann::json& request) {
  const std::string name = request.value("feed", "");
  const std::uint32_t local_rank = number_in(request, "local_rank", kMaxLocalRanks - 1);
  const pid_t pid = peer_of(socket).pid;
  const auto owner = std::find_if(owners_.begin(), owners_.end(), [&](const Owner& o) {
    return o.pid == pid && o.local_rank == local_rank && feeds_[o.feed].spec.name == name;
  });
  if (owner == owners_.end()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("process {} does not own the ring of local rank {} in feed '{}'", pid, local_rank, name));
  }
  spdlog::debug("rank {} (process {}) gave its ring of feed '{}' back", owner->rank, pid, name);
  owners_.erase(owner);
}

void RankDesk::watch(std::list<Owner>::iterator owner) {
  owner->death.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [this, owner](const boost::system::error_code& error) {
                            if (error) return;
                            spdlog::debug("rank {} (process {}) has gone", owner->rank, owner->pid);
                            owners_.erase(owner);
                          });
}

std::size_t RankDesk::living() const { return owners_.size(); }

nlohmann::json RankDesk::status() const {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& ring : rings_.all()) {
    const auto& header = ring->ring.header();
    constexpr auto relaxed = std::memory_order_relaxed;
    std::uint32_t phases[4] = {};
    std::uint32_t ready = 0;
    for (std::uint32_t slot = 0; slot < ring->ring.shape().slots; ++slot) {
      const contract::SlotWord word = ring->ring.slot(slot);
      ++phases[static_cast<std::size_t>(word.phase)];
      if (word.phase == contract::Phase::kOffered && ring->ring.full(word)) ++ready;
    }
    nlohmann::json entry = {
        {"feed", feeds_[ring->feed].spec.name},
        {"local_rank", ring->local_rank},
        {"batches", header.batches.load(relaxed)},
        {"samples", header.samples.load(relaxed)},
        {"wait_s", static_cast<double>(header.wait_ns.load(relaxed)) * 1e-9},
        {"waiting", header.waiting.load(relaxed) != 0},
        {"slots", {{"idle", phases[0]}, {"offered", phases[1] - ready}, {"ready", ready}, {"leased", phases[2]}}}};
    entry["huge_bytes"] = ring->huge_bytes;
    if (ring->numa_node) entry["numa_node"] = *ring->numa_node;
    const auto owner = std::find_if(owners_.begin(), owners_.end(), [&](const Owner& o) {
      return o.feed == ring->feed && o.local_rank == ring->local_rank;
    });
    if (owner != owners_.end()) {
      entry["rank"] = owner->rank;
      entry["pid"] = owner->pid;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace feedring
