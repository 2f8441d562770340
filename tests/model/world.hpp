// SPDX-License-Identifier: Apache-2.0
// The ring's law as a program for the machine: producers, ranks, and the supervisor, who may die and come back. What
// they run is what is shipped: Ring, EventCount, the producers' chooser, the owner's slot table and cursor. Only the
// loops around them are written again here, without sockets, clocks and pictures (Worker::run, FeedOwner::next,
// ProducerSet::sweep are the originals).
#pragma once

#include <cstdint>
#include <memory>

#include "tests/model/explorer.hpp"

namespace feedring::model {

struct Setting {
  std::uint32_t rings = 1;
  std::uint32_t slots = 1;
  std::uint32_t tasks = 1;  ///< of a slot, of one row each; rings * slots * tasks <= kMaxCells
  std::uint32_t producers = 1;
  std::uint32_t batches = 2;  ///< an epoch of each rank
  std::uint32_t producer_deaths = 0;
  std::uint32_t rank_deaths = 0;
  std::uint32_t seeks = 0;
  bool releaser = false;  ///< slots are released by another thread of the rank, in any order
};

[[nodiscard]] std::unique_ptr<World> ring_world(const Setting& setting);

}  // namespace feedring::model
