// SPDX-License-Identifier: Apache-2.0
// The producers of a pool: started, watched, replaced. Kill, confirm, sweep, wake, and only then give the id out again.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <feedring/error.hpp>
#include <filesystem>
#include <functional>
#include <list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "producers/pool/asio.hpp"
#include "producers/pool/node_feed.hpp"
#include "producers/pool/node_stores.hpp"
#include "producers/pool/rings.hpp"

namespace feedring {

class ProducerSet {
 public:
  struct Program {
    std::vector<std::string> command;  ///< feedring-producer, or another that calls run_producer(); its arguments
    double ready_deadline_s;           ///< from its start until it is ready
  };
  struct Callbacks {
    std::function<void(const nlohmann::json&)> on_failure;         ///< a failed sample, as the producer reports it
    std::function<void(ErrorKind, const std::string&)> on_broken;  ///< the pool cannot go on
  };

  /// `placement` says which cores are near a NUMA node. All of this: the supervisor's main thread, because a producer's
  /// life is tied to the thread that started it.
  ProducerSet(boost::asio::io_context& io, Program program, const std::vector<NodeFeed>& feeds, NodeStores& stores,
              const Rings& rings, const Placement& placement, Callbacks callbacks);
  ~ProducerSet();

  /// Makes the pool segment and starts `count` producers. Throws Error.
  void start(std::uint32_t count);
  /// Hands rings that were made later to every producer.
  void announce(const std::vector<const NodeRing*>& rings);
  /// Looks for samples that hang. `late_ns`: how much later than planned this call comes; a supervisor that was
  /// stopped or suspended itself blames nobody for that time.
  void check_deadlines(std::uint64_t late_ns);
  /// Ends all: channels shut down, whoever stays longer than half a second killed. Returns when all are gone and what
  /// they reported has been passed on.
  void stop();

  [[nodiscard]] int pool_fd() const noexcept { return pool_fd_.get(); }
  [[nodiscard]] contract::PoolHeader<std::atomic>& pool() const noexcept;
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(producers_.size()); }
  [[nodiscard]] std::uint64_t replaced() const noexcept { return replaced_; }
  [[nodiscard]] bool owns(pid_t pid) const;
  /// CPU time of all producers, those that died included.
  [[nodiscard]] std::uint64_t cpu_ns() const;
  /// Page faults (minor) of the living producers.
  [[nodiscard]] std::uint64_t minor_faults() const;
  [[nodiscard]] nlohmann::json status() const;

 private:
  struct Process;

  void spawn(Process& process);
  void place(const Process& process) const;
  bool tell(Process& process, const nlohmann::json& message, const std::vector<int>& descriptors);
  void hear(Process& process);
  void take_report(Process& process, const nlohmann::json& said);
  static void warn_of_nonsense(const Process& process, const std::exception& what);
  void wait_for_deaths(std::uint64_t most_ns);
  void watch_death(Process& process);
  void watch_channel(Process& process);
  void bury(Process& process);
  void sweep(const Process& process);
  std::string charge(const Process& process, int wait_status, bool& charged);
  void blame_start(Process& process, std::uint64_t now);
  void blame_hang(Process& process, std::uint64_t now);

  boost::asio::io_context& io_;
  Program program_;
  const std::vector<NodeFeed>& feeds_;
  NodeStores& stores_;
  const Rings& rings_;
  const Placement& placement_;
  Callbacks callbacks_;
  UniqueFd pool_fd_;
  Mapping pool_mapping_;
  std::list<Process> producers_;
  std::uint64_t replaced_ = 0;
  std::uint64_t cpu_of_dead_ns_ = 0;
  std::uint64_t blameless_until_ns_ = 0;
  bool stopping_ = false;
};

}  // namespace feedring
