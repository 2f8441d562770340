// SPDX-License-Identifier: Apache-2.0
// The two sides of the ring as small as they can be while keeping the law: a producer that writes the script's cells,
// an owner that demands them. Both sleep without time-outs that would hide a lost wake-up.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "runtime/event_count.hpp"
#include "tests/stress/script.hpp"

namespace feedring::stress {

/// Longer than any test may take: a wake-up that got lost is a hang, and the watchdog tells.
inline constexpr std::uint64_t kNoTimeOut = 600'000'000'000;

/// The turn in which each task of a ring was last worked on. Only where nobody dies: then no task is done twice.
using WorkedIn = std::vector<std::atomic<std::uint64_t>>;

class Producer {
 public:
  /// `worked_in`: one a ring, or empty.
  Producer(contract::Claimant id, std::span<const Ring<>> rings, contract::Event<std::atomic>& work, Verdict& verdict,
           std::uint64_t seed, std::span<WorkedIn> worked_in = {})
      : id_(id), rings_(rings), work_(work), verdict_(verdict), chance_(seed), worked_in_(worked_in) {}

  /// Works until `stop` is set or something has failed.
  void run(const std::atomic<std::uint32_t>& stop);

 private:
  struct Choice {
    std::size_t ring;
    std::uint32_t slot;
    contract::SlotWord word;
  };
  [[nodiscard]] bool choose(Choice& choice);
  void work_on(const Choice& choice);
  void do_task(const Choice& choice, std::uint32_t task);

  contract::Claimant id_;
  std::span<const Ring<>> rings_;
  EventCount<> work_;
  Verdict& verdict_;
  Chance chance_;
  std::span<WorkedIn> worked_in_;
  bool woken_ = false;
};

/// Where an owner is, in one word that outlives it: which plan, and which sequence comes next.
struct Place {
  std::uint32_t plan;
  std::uint32_t next;
};
using SharedPlace = std::atomic<std::uint64_t>;
constexpr std::uint64_t pack(Place place) { return std::uint64_t{place.plan} << 32 | place.next; }
constexpr Place unpack(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
}

struct OwnerConfig {
  std::uint64_t seed;
  std::uint64_t batches;          ///< to deliver, over all plans
  std::uint64_t seek_one_in = 0;  ///< deliveries; 0: never
};

/// What the outside sees of an owner.
struct Progress {
  SharedPlace place;
  std::atomic<std::uint64_t> delivered;
  std::atomic<std::uint64_t> seeks;
};

class Owner {
 public:
  /// What happens to a leased slot: it must be released at some time, by whoever, and `ready` notified.
  using Sink = std::function<void(std::uint32_t slot, const Want& want)>;

  Owner(const Ring<>& ring, contract::Event<std::atomic>& work, Verdict& verdict, Progress& progress,
        const OwnerConfig& config, std::uint64_t chance_seed)
      : ring_(ring),
        work_(work),
        ready_(ring.header().ready),
        verdict_(verdict),
        progress_(progress),
        config_(config),
        chance_(chance_seed) {}

  /// Goes on where a predecessor, if any, was killed.
  void take_over();
  /// Delivers until all batches are delivered or something has failed. `idle` is called when there is nothing to do
  /// and returns true when it changed that.
  void run(
      const Sink& sink, const std::function<bool()>& idle = [] { return false; });

 private:
  bool pass(const Sink& sink);
  bool offer_next(std::uint32_t slot);
  bool give_up(std::uint32_t slot);
  void deliver(std::uint32_t slot, const Want& want, const Sink& sink);
  void seek();
  [[nodiscard]] bool wanted(const Want& want) const { return want.plan == place_.plan && want.sequence >= place_.next; }
  [[nodiscard]] bool something_to_do() const;

  Ring<> ring_;
  EventCount<> work_;
  EventCount<> ready_;
  Verdict& verdict_;
  Progress& progress_;
  OwnerConfig config_;
  Chance chance_;
  Place place_{};
};

/// Compares all rows of a leased slot with the script.
void check_rows(const Ring<>& ring, std::uint32_t slot, const Want& want, const char* when, Verdict& verdict);

/// Every word of these rings, for who must find out why nothing moves.
std::string dump(std::span<const Ring<>> rings, const contract::Event<std::atomic>& work);

}  // namespace feedring::stress
