// SPDX-License-Identifier: Apache-2.0
// One producer of a ProducerSet, between the files that start it, watch it and bury it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "producers/pool/asio.hpp"
#include "producers/pool/producer_set.hpp"
#include "runtime/contract.hpp"

namespace feedring {

struct ProducerSet::Process {
  Process(boost::asio::io_context& io, contract::Claimant id, std::uint32_t place)
      : claimant(id), position(place), channel(io), death(io) {}

  contract::Claimant claimant;
  std::uint32_t position;
  pid_t pid = 0;
  boost::asio::posix::stream_descriptor channel;  // our end of its socket
  boost::asio::posix::stream_descriptor death;    // its pidfd
  bool ready = false;                             // it has said so: it has taken all feeds
  std::string unable;                             // why it cannot be one, in its own words
  std::uint64_t started_ns = 0;
  std::uint64_t tasks_at_start = 0;
  std::uint32_t fruitless_starts = 0;
  std::uint64_t killed_for_hang_ns = 0;  // 0: not killed by us
};

}  // namespace feedring
