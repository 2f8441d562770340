// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/producer_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>

#include "producers/pool/in_hand.hpp"
#include "producers/pool/producer_process.hpp"
#include "runtime/futex.hpp"
#include "runtime/process.hpp"

namespace feedring {

ProducerSet::ProducerSet(boost::asio::io_context& io, Program program, const std::vector<NodeFeed>& feeds,
                         NodeStores& stores, const Rings& rings, const Placement& placement, Callbacks callbacks)
    : io_(io),
      program_(std::move(program)),
      feeds_(feeds),
      stores_(stores),
      rings_(rings),
      placement_(placement),
      callbacks_(std::move(callbacks)) {}

ProducerSet::~ProducerSet() = default;

contract::PoolHeader<std::atomic>& ProducerSet::pool() const noexcept {
  return *reinterpret_cast<contract::PoolHeader<std::atomic>*>(pool_mapping_.data());
}

void ProducerSet::start(std::uint32_t count) {
  if (count < 1 || count > contract::kMaxProducers) {
    throw Error(ErrorKind::kUsage, fmt::format("a pool has 1 to {} producers, not {}", contract::kMaxProducers, count));
  }
  pool_fd_ = create_memfd("feedring-pool", sizeof(contract::PoolHeader<std::atomic>));
  seal_size(pool_fd_.get());
  pool_mapping_ = Mapping(pool_fd_.get(), Mapping::Access::kReadWrite);
  pool_mapping_.populate(0, pool_mapping_.size());
  pool().magic = contract::kPoolMagic;
  pool().bytes = sizeof(contract::PoolHeader<std::atomic>);
  pool().stamp.store(contract::fingerprint(), std::memory_order_release);
  for (std::uint32_t i = 0; i < count; ++i) {
    producers_.emplace_back(io_, static_cast<contract::Claimant>(i + 1), i);
  }
  for (Process& process : producers_) spawn(process);
}

bool ProducerSet::owns(pid_t pid) const {
  return std::any_of(producers_.begin(), producers_.end(),
                     [pid](const Process& process) { return process.death.is_open() && process.pid == pid; });
}

std::uint64_t ProducerSet::cpu_ns() const {
  std::uint64_t sum = cpu_of_dead_ns_;
  for (const Process& process : producers_) {
    if (process.death.is_open()) sum += cpu_ns_of(process.pid);
  }
  return sum;
}

std::uint64_t ProducerSet::minor_faults() const {
  std::uint64_t sum = 0;
  for (const Process& process : producers_) sum += minor_faults_of(process.pid);
  return sum;
}

nlohmann::json ProducerSet::status() const {
  nlohmann::json list = nlohmann::json::array();
  const std::uint64_t now = monotonic_ns();
  for (const Process& process : producers_) {
    const auto& block = pool().producer[process.claimant - 1];
    constexpr auto relaxed = std::memory_order_relaxed;
    nlohmann::json entry = {{"id", process.claimant},
                            {"pid", process.pid},
                            {"samples", block.counters.samples.load(relaxed)},
                            {"tasks", block.counters.tasks.load(relaxed)},
                            {"failures", block.counters.failures.load(relaxed)},
                            {"bytes_read", block.counters.bytes_read.load(relaxed)},
                            {"work_s", static_cast<double>(block.counters.work_ns.load(relaxed)) * 1e-9},
                            {"read_wait_s", static_cast<double>(block.counters.read_wait_ns.load(relaxed)) * 1e-9},
                            {"idle_s", static_cast<double>(block.counters.idle_ns.load(relaxed)) * 1e-9},
                            {"futex_calls", block.counters.futex_calls.load(relaxed)},
                            {"cpu_s", static_cast<double>(cpu_ns_of(process.pid)) * 1e-9}};
    const auto held = held_sample(block.in_hand, feeds_);
    if (held && held->since_ns < now)
      entry["in_hand"] = {{"path", held->called}, {"seconds", static_cast<double>(now - held->since_ns) * 1e-9}};
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace feedring
