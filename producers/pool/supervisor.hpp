// SPDX-License-Identifier: Apache-2.0
// The supervisor of a pool: owns the memory, starts and watches producers, answers the control socket, sweeps what a
// dead producer left, and ends when its owner ends. One thread.
#pragma once

#include <cstdint>
#include <feedring/error.hpp>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "producers/pool/asio.hpp"
#include "producers/pool/episode_answer.hpp"
#include "producers/pool/failure_list.hpp"
#include "producers/pool/node_feed.hpp"
#include "producers/pool/node_stores.hpp"
#include "producers/pool/producer_set.hpp"
#include "producers/pool/rank_desk.hpp"
#include "producers/pool/rings.hpp"
#include "runtime/control.hpp"

namespace feedring {

struct SupervisorOptions {
  Config config;
  PoolAddress address;
  std::uint32_t producers = 1;
  std::optional<std::uint32_t> ranks;         ///< known local ranks: their rings are made at once
  std::vector<std::string> producer_command;  ///< program and first arguments
  /// Set: the pool ends by itself this long after the last rank has gone (and where none comes at all). Not set: it
  /// lives until stop().
  std::optional<std::chrono::seconds> grace;
  /// A pidfd, or empty. With `grace`: once this process is dead and no rank lives, the job is over, and so is the pool.
  UniqueFd job;
};

class Supervisor {
 public:
  /// `listener` is bound to options.address. Reads the data sets, makes the segments, starts the producers.
  /// Throws Error; then nothing is left running.
  Supervisor(boost::asio::io_context& io, SupervisorOptions options, UniqueFd listener);
  ~Supervisor();

  /// Ends the producers and the event loop. Idempotent.
  void stop();
  /// stop(), as soon as no connection is left that said "join": a further command of the job that uses this pool.
  void stop_when_alone();
  [[nodiscard]] std::size_t joined() const noexcept;

  /// Why the pool ended by itself, if it did: an error that exit_code() maps.
  [[nodiscard]] const std::optional<Error>& broken() const noexcept { return broken_; }

  [[nodiscard]] const std::vector<NodeFeed>& feeds() const noexcept { return feeds_; }
  [[nodiscard]] const Rings& rings() const noexcept { return rings_; }
  [[nodiscard]] const ProducerSet& producers() const noexcept { return *producers_; }
  [[nodiscard]] nlohmann::json status() const;

 private:
  struct Session;

  void accept();
  void converse(std::list<Session>::iterator session);
  nlohmann::json answer(int socket, const nlohmann::json& request, std::vector<int>& descriptors);
  [[nodiscard]] MemoryPlan memory(std::uint32_t ranks) const;
  void make_rings(std::uint32_t ranks);
  void tick();
  void break_down(ErrorKind kind, const std::string& why);

  boost::asio::io_context& io_;
  SupervisorOptions options_;
  std::vector<NodeFeed> feeds_;
  EpisodeAnswers episodes_{feeds_};
  FailureList failures_;
  Placement placement_;
  Rings rings_;
  NodeStores stores_;
  MemoryPlan start_;  // what was planned before anything started
  std::unique_ptr<ProducerSet> producers_;
  std::unique_ptr<RankDesk> desk_;
  UniqueFd self_;  // our own pidfd, which every rank gets
  boost::asio::posix::stream_descriptor listener_;
  boost::asio::steady_timer timer_;
  std::uint64_t tick_due_ns_ = 0;
  std::uint64_t started_ns_ = 0;
  std::uint64_t last_rank_ns_ = 0;
  std::list<Session> sessions_;
  std::optional<Error> broken_;
  bool ending_ = false;
  bool stopped_ = false;
};

}  // namespace feedring
