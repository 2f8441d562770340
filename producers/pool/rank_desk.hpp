// SPDX-License-Identifier: Apache-2.0
// Where ranks attach: who owns which ring, who is still alive, and whether the living agree about the job.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <feedring/error.hpp>
#include <functional>
#include <list>
#include <nlohmann/json.hpp>
#include <vector>

#include "producers/pool/asio.hpp"
#include "producers/pool/node_feed.hpp"
#include "producers/pool/rings.hpp"

namespace feedring {

class RankDesk {
 public:
  RankDesk(boost::asio::io_context& io, const std::vector<NodeFeed>& feeds, Rings& rings,
           std::function<void(std::uint32_t)> make_rings);
  ~RankDesk();

  /// A living process stands in the way: a predecessor that is still ending, or one rank too many. Whoever asks may
  /// try again, and will get in once that process is dead.
  struct Busy : Error {
    using Error::Error;
  };
  struct Attached {
    nlohmann::json reply;
    int ring_fd = -1;
  };
  /// Answers {"op": "attach", …} of the process behind `socket`. Makes the node's rings where this is the first rank to
  /// come. Throws Error(kRefused | kUsage | kMemory), and Busy (kRefused).
  Attached attach(int socket, const nlohmann::json& request);

  /// Answers {"op": "detach", "feed", "local_rank"}: the process behind `socket` gives that ring back, alive. Throws
  /// Error(kUsage) where it does not own it.
  void detach(int socket, const nlohmann::json& request);

  /// Processes that own a ring and live.
  [[nodiscard]] std::size_t living() const;
  [[nodiscard]] nlohmann::json status() const;

 private:
  struct Owner;

  void watch(std::list<Owner>::iterator owner);

  boost::asio::io_context& io_;
  const std::vector<NodeFeed>& feeds_;
  Rings& rings_;
  std::function<void(std::uint32_t)> make_rings_;
  std::list<Owner> owners_;
  std::vector<bool> used_;  // by feed x local rank: had an owner before
};

}  // namespace feedring
