// SPDX-License-Identifier: Apache-2.0
// What a Batch and the views made from it hold together. Its end is the release of the slot.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "consumers/cursor.hpp"
#include "consumers/ring_memory.hpp"

namespace feedring {

struct BatchContent {
  BatchContent(std::shared_ptr<RingMemory> from, std::uint32_t in, const Wanted& what)
      : memory(std::move(from)), slot(in), wanted(what) {}
  BatchContent(const BatchContent&) = delete;
  BatchContent& operator=(const BatchContent&) = delete;
  ~BatchContent() { RingMemory::let_go(memory, slot); }

  std::shared_ptr<RingMemory> memory;
  std::uint32_t slot;
  Wanted wanted;
};

}  // namespace feedring
