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
/// After this a test that has not come to its end, on a machine that does much else, is content with what it did.
inline constexpr std::uint64_t kTimeLimit = 8'000'000'000;

/// What threads can note beside a ring, one a ring.
struct Witness {
  /// A plain copy of each slot's ticket: the race detector sees who reads it without an edge.
  std::vector<Want> tickets;
  /// The turn in which each task was last worked on; empty where somebody may die (else no task is done twice).
  std::vector<std::atomic<std::uint64_t>> worked_in;
};

struct ProducerConfig {
  contract::Claimant id;
  std::uint64_t seed;
  std::uint64_t sleep_one_in = 256;  ///< delays
  std::uint64_t die_one_in = 0;      ///< delays; 0: never
};

class Producer {
 public:
  Producer(const ProducerConfig& config, std::span<const Ring<>> rings, contract::Event<std::atomic>& work,
           Verdict& verdict, std::span<Witness> witnesses = {})
      : config_(config),
        rings_(rings),
        work_(work),
        verdict_(verdict),
        chance_(config.seed, config.sleep_one_in),
        witnesses_(witnesses) {}

  /// Works until `stop` is set or something has failed; false: it dropped everything and died.
  bool run(const std::atomic<std::uint32_t>& stop);

 private:
  struct Choice {
    std::size_t ring;
    std::uint32_t slot;
    contract::SlotWord word;
  };
  struct Death {};
  void moment();
  [[nodiscard]] bool choose(Choice& choice);
  void work_on(const Choice& choice);
  void do_task(const Choice& choice, std::uint32_t task);

  ProducerConfig config_;
  std::span<const Ring<>> rings_;
  EventCount<> work_;
  Verdict& verdict_;
  Chance chance_;
  std::span<Witness> witnesses_;
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
  const std::atomic<std::uint32_t>* stop;
  std::uint64_t seed;
  std::uint64_t batches;          ///< to deliver, over all plans
  std::uint64_t seek_one_in = 0;  ///< looks at the ring; 0: never
  std::uint64_t chance_seed = 0;
  std::uint64_t sleep_one_in = 256;  ///< delays
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
        const OwnerConfig& config, Witness* witness = nullptr)
      : ring_(ring),
        work_(work),
        ready_(ring.header().ready),
        verdict_(verdict),
        progress_(progress),
        config_(config),
        chance_(config.chance_seed, config.sleep_one_in),
        witness_(witness) {}

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
  Witness* witness_;
  Place place_{};
};

/// Compares all rows of a leased slot with the script.
void check_rows(const Ring<>& ring, std::uint32_t slot, const Want& want, const char* when, Verdict& verdict);

/// Every word of these rings, for who must find out why nothing moves.
std::string dump(std::span<const Ring<>> rings, const contract::Event<std::atomic>& work);

}  // namespace feedring::stress
