// SPDX-License-Identifier: Apache-2.0
// Some code with fault points in it, compiled once with and once without them (tests/unit/fault_point_test.cpp).
#include "runtime/event_count.hpp"
#include "runtime/ring.hpp"

namespace feedring::test {

bool claim_and_finish(const Ring<>& ring, contract::PoolHeader<std::atomic>& pool) {
  const contract::SlotWord word = ring.slot(0);
  if (!ring.claim(0, 0, 1, word)) return false;
  if (fault_point("read, instead of a piece", "a file") != 0) return false;
  const bool last = ring.finish(0, 0, word.turn);
  EventCount(pool.work).notify_one();
  return last;
}

}  // namespace feedring::test
