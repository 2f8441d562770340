// SPDX-License-Identifier: Apache-2.0
// How a ProducerSet finds a sample that hangs, and a producer that cannot be killed.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <feedring/error.hpp>

#include "producers/pool/in_hand.hpp"
#include "producers/pool/producer_process.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/futex.hpp"
#include "runtime/process.hpp"

namespace feedring {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
// A killed process that is still there after this is stuck in the kernel.
constexpr std::uint64_t kBurialDeadline = 5 * kSecond;

}  // namespace

void ProducerSet::check_deadlines(std::uint64_t late_ns) {
  const std::uint64_t now = monotonic_ns();
  if (late_ns > kSecond) blameless_until_ns_ = now;
  for (Process& process : producers_) {
    if (!process.death.is_open()) continue;
    if (process.killed_for_hang_ns == 0) {
      process.ready ? blame_hang(process, now) : blame_start(process, now);
    } else if (now - std::max(process.killed_for_hang_ns, blameless_until_ns_) > kBurialDeadline) {
      const auto held = held_sample(pool().producer[process.claimant - 1].in_hand, feeds_);
      callbacks_.on_broken(ErrorKind::kDeadline,
                           fmt::format("producer {} (pid {}) was killed and does not die: it is stuck in the kernel{}; "
                                       "check the file system and the storage behind it",
                                       process.claimant, process.pid, held ? " with " + held->called : ""));
      return;
    }
  }
}

// Another start would take as long.
void ProducerSet::blame_start(Process& process, std::uint64_t now) {
  const std::uint64_t from = std::max(process.started_ns, blameless_until_ns_);
  if (now < from || static_cast<double>(now - from) < program_.ready_deadline_s * 1e9) return;
  process.killed_for_hang_ns = now;
  send_signal(process.death.native_handle(), SIGKILL);
  callbacks_.on_broken(
      ErrorKind::kDeadline,
      fmt::format("the producer program {} was not ready within {} s (pid {}): it does not call run_producer(), or its "
                  "data take too long to open: raise ready_deadline_s in [pool], or open less",
                  program_.command.front(), program_.ready_deadline_s, process.pid));
}

void ProducerSet::blame_hang(Process& process, std::uint64_t now) {
  const auto& hand = pool().producer[process.claimant - 1].in_hand;
  const std::uint64_t since = hand.since_ns.load(std::memory_order_acquire);
  if (since == 0) return;
  const std::uint32_t feed = hand.feed.load(std::memory_order_relaxed);
  const double limit = feeds_[feed < feeds_.size() ? feed : 0].spec.item_deadline_s;
  const std::uint64_t from = std::max(since, blameless_until_ns_);
  if (now < from || static_cast<double>(now - from) < limit * 1e9) return;
  process.killed_for_hang_ns = now;
  if (fault_point("hang, before the kill") != 0) return;  // as if the kernel did not let it die
  send_signal(process.death.native_handle(), SIGKILL);
}

}  // namespace feedring
