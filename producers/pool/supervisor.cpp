// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/supervisor.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "producers/pool/status_pages.hpp"
#include "runtime/event_count.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/huge_pages.hpp"
#include "runtime/message.hpp"
#include "runtime/process.hpp"

namespace feedring {
namespace {

constexpr std::uint64_t kTickNs = 250'000'000;
// A pool that was started by a rank, and that no rank reaches: the rank died on the way.
constexpr std::uint64_t kFirstRankNs = 60'000'000'000;

}  // namespace

struct Supervisor::Session {
  explicit Session(boost::asio::io_context& io) : socket(io) {}
  boost::asio::posix::stream_descriptor socket;
  bool joined = false;
};

Supervisor::Supervisor(boost::asio::io_context& io, SupervisorOptions options, UniqueFd listener)
    : io_(io),
      options_(std::move(options)),
      feeds_(open_feeds(options_.config)),
      failures_(options_.config.pool.failures),
      self_(open_pidfd(::getpid())),
      listener_(io, listener.release()),
      timer_(io) {
  producers_ = std::make_unique<ProducerSet>(
      io_, ProducerSet::Program{options_.producer_command, options_.config.pool.ready_deadline_s}, feeds_, stores_,
      rings_, placement_,
      ProducerSet::Callbacks{[this](const nlohmann::json& failure) { failures_.add(failure); },
                             [this](ErrorKind kind, const std::string& why) { break_down(kind, why); }});
  desk_ = std::make_unique<RankDesk>(io_, feeds_, rings_, [this](std::uint32_t ranks) { make_rings(ranks); });
  // Memory is checked before anything starts, for one rank where their number is not known yet.
  start_ = plan_start(feeds_, options_.config.pool, options_.ranks.value_or(1), options_.producers);
  demand_memory(start_, options_.config.pool.memory_limit);
  spdlog::info("{}{}", to_line(start_),
               options_.ranks ? "" : " (more with the first attach, which tells how many ranks)");
  spdlog::info("pages: {}; {}", describe_huge_pages(), placement_.describe(options_.ranks.value_or(1)));
  stores_.make(start_.stores, start_.seek);
  if (options_.ranks) make_rings(*options_.ranks);
  producers_->start(options_.producers);
  started_ns_ = monotonic_ns();
  tick_due_ns_ = started_ns_ + kTickNs;
  accept();
  tick();
}

Supervisor::~Supervisor() { stop(); }

MemoryPlan Supervisor::memory(std::uint32_t ranks) const {
  return plan_memory(feeds_, start_.stores, start_.seek, ranks, options_.producers);
}

void Supervisor::make_rings(std::uint32_t ranks) {
  if (ranks > options_.ranks.value_or(1)) spdlog::info("{}", to_line(memory(ranks)));
  const auto made = rings_.make(feeds_, ranks, options_.producers, options_.config.pool.memory_limit, placement_);
  if (producers_->size() != 0) producers_->announce(made);
}

void Supervisor::accept() {
  listener_.async_wait(
      boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
        if (error || stopped_) return;
        // Non-blocking: who asks and does not read the answers is left, not waited for.
        UniqueFd socket(::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket) {
          const Peer peer = peer_of(socket.get());
          if (peer.uid == ::geteuid()) {
            const auto session = sessions_.emplace(sessions_.end(), io_);
            session->socket.assign(socket.release());
            converse(session);
          } else {
            spdlog::warn("process {} of uid {} was refused: this pool serves uid {}", peer.pid, peer.uid, ::geteuid());
            try {
              send_message(socket.get(),
                           error_reply(Error(ErrorKind::kRefused,
                                             fmt::format("the pool serves uid {}, and this process belongs to uid {}",
                                                         ::geteuid(), peer.uid))));
            } catch (const Error&) {
              // It did not wait for the answer.
            }
          }
        }
        accept();
      });
}

void Supervisor::converse(std::list<Session>::iterator session) {
  session->socket.async_wait(
      boost::asio::posix::stream_descriptor::wait_read, [this, session](const boost::system::error_code& error) {
        if (error || stopped_) return;
        try {
          if (auto message = receive_message(session->socket.native_handle(), 0)) {
            std::vector<int> descriptors;
            nlohmann::json reply;
            bool stop_asked = false;
            try {
              reply = answer(session->socket.native_handle(), message->body, descriptors);
              stop_asked = message->body.value("op", "") == "stop";
              session->joined = session->joined || message->body.value("op", "") == "join";
            } catch (const Error& refusal) {
              reply = error_reply(refusal);
            } catch (const nlohmann::json::exception& malformed) {
              reply = error_reply(Error(ErrorKind::kRefused, fmt::format("a malformed request: {}", malformed.what())));
            }
            if (!descriptors.empty()) fault_point("answer, before a rank gets it");
            send_message(session->socket.native_handle(), reply, descriptors);
            if (!descriptors.empty()) fault_point("answer, after a rank got it");
            if (stop_asked) {
              stop();
              return;
            }
          }
        } catch (const Error&) {
          sessions_.erase(session);  // the other end is gone, or speaks another language
          if (ending_) stop_when_alone();
          return;
        }
        converse(session);
      });
}

nlohmann::json Supervisor::answer(int socket, const nlohmann::json& request, std::vector<int>& descriptors) {
  const std::string op = request.value("op", "");
  if (op == "attach") {
    try {
      RankDesk::Attached attached = desk_->attach(socket, request);
      descriptors = {attached.ring_fd, producers_->pool_fd(), self_.get()};
      last_rank_ns_ = monotonic_ns();
      attached.reply["producers"] = producers_->size();
      return attached.reply;
    } catch (const RankDesk::Busy& busy) {
      nlohmann::json reply = error_reply(busy);
      reply["busy"] = true;
      return reply;
    }
  }
  if (op == "detach") {
    desk_->detach(socket, request);
    return {{"ok", true}};
  }
  if (op == "status") return status_page(status(), first_entry(request), kMaxMessage);
  if (op == "episode") return episodes_.answer(request, kMaxMessage);
  if (op == "data") {
    std::vector<int> of_feed;
    nlohmann::json reply = episodes_.data(request, of_feed);  // a refusal carries none
    descriptors = {producers_->pool_fd()};
    descriptors.insert(descriptors.end(), of_feed.begin(), of_feed.end());
    return reply;
  }
  if (op == "join") return {{"ok", true}, {"pid", ::getpid()}};
  if (op == "stop") return {{"ok", true}, {"pid", ::getpid()}};
  throw Error(ErrorKind::kRefused, fmt::format("a pool does not know the request '{}'", op));
}

void Supervisor::tick() {
  timer_.expires_after(std::chrono::nanoseconds(kTickNs));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || stopped_) return;
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t late = now > tick_due_ns_ ? now - tick_due_ns_ : 0;
    tick_due_ns_ = now + kTickNs;
    producers_->check_deadlines(late);
    if (desk_->living() != 0) last_rank_ns_ = now;
    if (options_.grace) {
      const auto grace = static_cast<std::uint64_t>(std::chrono::nanoseconds(*options_.grace).count());
      const bool gone = last_rank_ns_ != 0 && now - last_rank_ns_ > grace;
      const bool none_came = last_rank_ns_ == 0 && now - started_ns_ > std::max(grace, kFirstRankNs);
      const bool over = options_.job && desk_->living() == 0 && is_dead(options_.job.get());
      if (gone || none_came || over) {
        stop();
        return;
      }
    }
    tick();
  });
}

void Supervisor::break_down(ErrorKind kind, const std::string& why) {
  if (broken_) return;
  broken_.emplace(kind, why);
  spdlog::error("{}", why);
  auto& pool = producers_->pool();
  pool.why_length = static_cast<std::uint32_t>(std::min(why.size(), sizeof pool.why));
  std::memcpy(pool.why, why.data(), pool.why_length);
  fault_point("broken, between the text and the word");
  // Released: a rank that sees the kind sees the text.
  pool.broken.store(static_cast<std::uint32_t>(kind) + 1, std::memory_order_release);
  for (const auto& ring : rings_.all()) EventCount(ring->ring.header().ready).notify_all();
}

std::size_t Supervisor::joined() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(sessions_.begin(), sessions_.end(), [](const Session& session) { return session.joined; }));
}

void Supervisor::stop_when_alone() {
  ending_ = true;
  if (joined() == 0) stop();
}

void Supervisor::stop() {
  if (stopped_) return;
  stopped_ = true;
  boost::system::error_code ignored;
  listener_.close(ignored);
  forget_address(options_.address);
  timer_.cancel();
  sessions_.clear();
  if (producers_ != nullptr) producers_->stop();
  io_.stop();
}

nlohmann::json Supervisor::status() const {
  nlohmann::json feeds = nlohmann::json::array();
  for (const NodeFeed& feed : feeds_) {
    feeds.push_back({{"name", feed.spec.name},
                     {"samples", feed.index.size()},
                     {"classes", feed.index.classes()},
                     {"batch_size", feed.spec.batch_size},
                     {"slots", feed.spec.slots},
                     {"dataset_digest", feed.index.digest()},
                     {"spec_hash", feed.spec_hash}});
  }
  return {{"ok", true},
          {"pool", options_.address},
          {"pid", ::getpid()},
          {"uptime_s", static_cast<double>(monotonic_ns() - started_ns_) * 1e-9},
          {"ranks_attached", desk_->living()},
          {"failed", failures_.count()},
          {"producers_replaced", producers_->replaced()},
          {"broken", broken_ ? nlohmann::json(broken_->what()) : nlohmann::json()},
          {"feeds", feeds},
          {"rings", desk_->status()},
          {"producers", producers_->status()},
          {"stores", stores_.status()},
          {"seek_indices", stores_.seek_status()},
          {"memory", to_json(memory(std::max(rings_.ranks(), 1U)))}};
}

}  // namespace feedring
