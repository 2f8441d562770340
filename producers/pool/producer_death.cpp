// SPDX-License-Identifier: Apache-2.0
// How a ProducerSet ends a producer's life: by itself or by stop(). Why it died, what it left, and whether it gets a
// successor.
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/pool/in_hand.hpp"
#include "producers/pool/producer_process.hpp"
#include "runtime/event_count.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/futex.hpp"
#include "runtime/process.hpp"

namespace feedring {

using contract::WorkPhase;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
// A producer that dies this often in a row without finishing a single task will not be saved by another start.
constexpr std::uint32_t kMaxFruitlessStarts = 5;

std::uint64_t cpu_ns_in(const rusage& usage) {
  return static_cast<std::uint64_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * kSecond +
         static_cast<std::uint64_t>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

bool caused_by_a_file(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGILL || signal == SIGFPE;
}

}  // namespace

void ProducerSet::watch_death(Process& process) {
  process.death.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [this, &process](const boost::system::error_code& error) {
                             if (!error && !stopping_) bury(process);
                           });
}

// The death is confirmed: its pidfd has fired.
void ProducerSet::bury(Process& process) {
  int status = 0;
  rusage usage{};
  while (::wait4(process.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  cpu_of_dead_ns_ += cpu_ns_in(usage);
  hear(process);
  bool charged = false;
  const std::string cause = charge(process, status, charged);
  process.channel.close();
  process.death.close();
  fault_point("death, before the sweep");
  sweep(process);

  auto& block = pool().producer[process.claimant - 1];
  const bool fruitful = block.counters.tasks.load(std::memory_order_relaxed) != process.tasks_at_start;
  // Whoever was simply killed, by a person or for want of memory, is just replaced, however often; and each death that
  // a sample is charged with brings its quarantine nearer, so that there is an end to them.
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && process.killed_for_hang_ns == 0;
  if (!process.unable.empty()) {
    callbacks_.on_broken(ErrorKind::kPoolGone, fmt::format("the producer program {} cannot work for this pool: {}",
                                                           program_.command.front(), process.unable));
    return;
  }
  if (fruitful) process.fruitless_starts = 0;
  if (!fruitful && !killed && !charged) ++process.fruitless_starts;
  if (process.fruitless_starts >= kMaxFruitlessStarts) {
    callbacks_.on_broken(ErrorKind::kPoolGone,
                         fmt::format("producer {} ended {} times in a row without finishing a task, the last time {}",
                                     process.claimant, kMaxFruitlessStarts, cause));
    return;
  }
  spdlog::warn("producer {} (pid {}) ended {}; what it had in hand is done again by others, and it is replaced",
               process.claimant, process.pid, cause);
  ++replaced_;
  fault_point("death, before the new start");
  try {
    spawn(process);
  } catch (const Error& error) {
    callbacks_.on_broken(error.kind(),
                         fmt::format("producer {} could not be replaced: {}", process.claimant, error.what()));
  }
}

void ProducerSet::sweep(const Process& process) {
  std::uint32_t found = 0;
  for (const auto& ring : rings_.all()) found += ring->ring.sweep(process.claimant);
  stores_.sweep(process.claimant);
  EventCount work(pool().work);
  work.forget(process.claimant - 1U);
  pool().producer[process.claimant - 1].in_hand.since_ns.store(0, std::memory_order_relaxed);
  fault_point("death, before the wake-ups");
  // Whatever was found: it may have died between a change and its wake-up.
  work.notify_all();
  for (const auto& ring : rings_.all()) EventCount(ring->ring.header().ready).notify_all();
  spdlog::debug("swept {} tasks of producer {}", found, process.claimant);
}

// What it died of, in words; a crash that a file can cause is charged to the sample in hand.
std::string ProducerSet::charge(const Process& process, int wait_status, bool& charged) {
  std::string cause = WIFSIGNALED(wait_status)
                          ? fmt::format("by signal {} ({})", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)))
                          : fmt::format("with exit code {}", WEXITSTATUS(wait_status));
  if (process.killed_for_hang_ns != 0) cause = "because it was killed for a sample that took too long";
  const auto held = held_sample(pool().producer[process.claimant - 1].in_hand, feeds_);
  if (!held) return cause;
  const bool crashed = WIFSIGNALED(wait_status) && caused_by_a_file(WTERMSIG(wait_status));
  if (process.killed_for_hang_ns != 0 || crashed) {
    suspect(pool(), *held);
    charged = crashes_of(pool(), held->feed, held->sample) != 0;  // not where the table of suspects is full
  }
  const bool own = feeds_[held->feed].spec.own.has_value();
  const char* did = held->phase == WorkPhase::kRead ? "read" : own ? "made" : "decoded";
  return cause + fmt::format(" while it {} {}", did, held->called);
}

void ProducerSet::stop() {
  stopping_ = true;
  // The end of what they hear is their end; what they have said is still to be heard.
  for (Process& process : producers_) {
    if (process.channel.is_open()) ::shutdown(process.channel.native_handle(), SHUT_WR);
  }
  wait_for_deaths(kSecond / 2);
  for (Process& process : producers_) {
    if (process.death.is_open()) send_signal(process.death.native_handle(), SIGKILL);
  }
  // One that does not die now is stuck in the kernel; it has no memory of ours that anybody still uses.
  wait_for_deaths(kSecond);
  for (Process& process : producers_) {
    if (process.channel.is_open()) process.channel.close();
  }
}

void ProducerSet::wait_for_deaths(std::uint64_t most_ns) {
  const std::uint64_t until = monotonic_ns() + most_ns;
  for (Process& process : producers_) {
    if (!process.death.is_open()) continue;
    const std::uint64_t now = monotonic_ns();
    if (!is_dead(process.death.native_handle(), now < until ? static_cast<int>((until - now) / 1'000'000) : 0))
      continue;
    rusage usage{};
    ::wait4(process.pid, nullptr, 0, &usage);
    cpu_of_dead_ns_ += cpu_ns_in(usage);
    hear(process);
    process.death.close();
  }
}

}  // namespace feedring
