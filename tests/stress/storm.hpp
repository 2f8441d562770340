// SPDX-License-Identifier: Apache-2.0
// Many processes on shared memfds, more than there are cores, that die by SIGKILL or stop by SIGSTOP at any moment. The
// test is their supervisor: it confirms each death, sweeps, wakes everybody, and only then starts another in its place.
// The owners deliver the script's batches in order, each exactly once.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <optional>
#include <vector>

#include "runtime/memfd.hpp"
#include "runtime/ring_segment.hpp"
#include "tests/stress/actors.hpp"
#include "tests/stress/seed.hpp"
#include "tests/support/child.hpp"

namespace feedring::stress {

using test::Child;

inline constexpr std::uint32_t kMaxRings = 8;
inline constexpr std::uint64_t kSleepOneIn = 32;  // delays: a kill mostly finds its victim in one

/// The segment that all processes share beside the rings.
struct Common {
  contract::Event<std::atomic> work;
  Verdict verdict;
  std::atomic<std::uint32_t> stop;
  Progress progress[kMaxRings];
};

/// What one process sees: its own mappings of the segments (they are not inherited by a fork).
class View {
 public:
  View(int common, const std::vector<UniqueFd>& rings) : common_(common, Mapping::Access::kReadWrite) {
    for (const UniqueFd& ring : rings) {
      const Mapping& mapping = mappings_.emplace_back(ring.get(), Mapping::Access::kReadWrite);
      rings_.emplace_back(mapping.data(), read_ring_shape(mapping.bytes()));
    }
  }
  [[nodiscard]] Common& common() const { return *reinterpret_cast<Common*>(common_.data()); }
  [[nodiscard]] std::span<const Ring<>> rings() const { return rings_; }

 private:
  Mapping common_;
  std::vector<Mapping> mappings_;
  std::vector<Ring<>> rings_;
};

/// Owners keep what they leased for a while and give it back in random order.
class Held {
 public:
  Held(const Ring<>& ring, Verdict& verdict, std::uint64_t seed) : ring_(ring), verdict_(verdict), chance_(seed) {}
  void take(std::uint32_t slot, const Want& want) {
    held_.emplace(slot, want);
    while (held_.size() >= ring_.shape().slots || (!held_.empty() && chance_.one_in(2))) give_back_one();
  }
  bool give_back_one() {
    if (held_.empty()) return false;
    const auto any = std::next(held_.begin(), static_cast<std::ptrdiff_t>(chance_.below(held_.size())));
    check_rows(ring_, any->first, any->second, "before it was released", verdict_);
    ring_.release(any->first);
    held_.erase(any);
    return true;
  }

 private:
  Ring<> ring_;
  Verdict& verdict_;
  Chance chance_;
  std::map<std::uint32_t, Want> held_;
};

struct Storm {
  std::uint64_t batches;  ///< of each ring
  std::uint32_t rings = 2;
  std::uint32_t producers = 8;
  std::uint64_t time_limit_ns = kTimeLimit;  ///< then it is content with what was delivered
  std::uint64_t seek_one_in = 0;             ///< of an owner's looks
  std::uint64_t kill_producer_one_in = 0;    ///< of the supervisor's looks; 0: never
  std::uint64_t kill_owner_one_in = 0;
  std::uint64_t stop_one_in = 0;
};

class Supervisor {
 public:
  Supervisor(const Storm& storm, const contract::RingShape& shape)
      : storm_(storm), seed_(seed_of_this_run()), chance_(seed_), common_(create_memfd("common", sizeof(Common))) {
    for (std::uint32_t r = 0; r < storm_.rings; ++r) {
      const UniqueFd& ring = rings_.emplace_back(create_memfd("ring", shape.bytes));
      seal_size(ring.get());
      create_ring(Mapping(ring.get(), Mapping::Access::kReadWrite).data(), shape);
    }
    view_.emplace(common_.get(), rings_);
  }

  /// Returns how often what was done to them; "" in `verdict` when all is well.
  void run() {
    for (std::uint32_t r = 0; r < storm_.rings; ++r) start_owner(r);
    for (std::uint32_t p = 0; p < storm_.producers; ++p) start_producer();
    const std::uint64_t start = monotonic_ns();
    std::uint64_t seen = 0, since = start;
    while (!owners_.empty() && common().verdict.failed.load() == 0) {
      ::usleep(static_cast<useconds_t>(200 + chance_.below(1500)));
      bury();
      harm();
      if (moved() != seen) {
        seen = moved();
        since = monotonic_ns();
        if (since - start > storm_.time_limit_ns)
          end(true);  // here and not below: time that is up must not hide a hang
      } else if (monotonic_ns() - since > 20'000'000'000) {
        common().verdict.fail("nothing has moved for 20 s");
      }
    }
    look_for_strays();
    words_ = dump(view_->rings(), common().work);
    for (auto& [pid, stopped] : stopped_) ::kill(pid, SIGCONT);
    end(false);
  }

  [[nodiscard]] std::string verdict() const {
    const std::string said = common().verdict.said();
    return said.empty() ? "" : said + "\n" + words_;
  }
  [[nodiscard]] std::uint32_t rings() const { return storm_.rings; }
  [[nodiscard]] std::uint64_t delivered(std::uint32_t ring) const { return common().progress[ring].delivered.load(); }
  [[nodiscard]] Place place(std::uint32_t ring) const { return unpack(common().progress[ring].place.load()); }
  /// The time was up before the batches were delivered, as on a machine that does much else.
  bool cut_short = false;
  std::uint64_t producers_killed = 0, owners_killed = 0, stops = 0, tasks_swept = 0;

 private:
  [[nodiscard]] Common& common() const { return view_->common(); }
  [[nodiscard]] std::uint64_t moved() const {
    std::uint64_t sum = 0;
    for (std::uint32_t r = 0; r < storm_.rings; ++r) sum += delivered(r);
    return sum;
  }

  void start_producer() {
    do {
      last_id_ = static_cast<contract::Claimant>(last_id_ % contract::kMaxProducers + 1);  // the one longest unused
    } while (producers_.contains(last_id_));
    const std::uint64_t seed = chance_.below(~std::uint64_t{0});
    producers_.emplace(last_id_, Child([this, seed] {
                         const View own(common_.get(), rings_);
                         const ProducerConfig config{.id = last_id_, .seed = seed, .sleep_one_in = kSleepOneIn};
                         Producer(config, own.rings(), own.common().work, own.common().verdict).run(own.common().stop);
                         return 0;
                       }));
  }

  void start_owner(std::uint32_t r) {
    const std::uint64_t seed = chance_.below(~std::uint64_t{0});
    owners_.emplace(r, Child([this, seed, r] {
                      const View own(common_.get(), rings_);
                      const Ring<>& ring = own.rings()[r];
                      Verdict& verdict = own.common().verdict;
                      Owner owner(ring, own.common().work, verdict, own.common().progress[r],
                                  {.stop = &own.common().stop,
                                   .seed = mix(seed_, r),
                                   .batches = storm_.batches,
                                   .seek_one_in = storm_.seek_one_in,
                                   .chance_seed = seed,
                                   .sleep_one_in = kSleepOneIn});
                      Held held(ring, verdict, mix(seed, 1));
                      owner.take_over();
                      owner.run([&](std::uint32_t slot, const Want& want) { held.take(slot, want); },
                                [&] { return held.give_back_one(); });
                      return 0;
                    }));
  }

  // Deaths are confirmed by wait, as the product confirms them by a pidfd.
  void bury() {
    for (auto it = producers_.begin(); it != producers_.end();) {
      const auto id = it->first;
      const pid_t pid = it->second.pid();
      const int status = it->second.poll();
      if (status < 0) {
        ++it;
        continue;
      }
      it = producers_.erase(it);
      stopped_.erase(pid);
      if (cut_short && status == 0) continue;  // it ended by itself
      if (status != 128 + SIGKILL) common().verdict.fail(fmt::format("producer {} ended with {}", id, status));
      for (const Ring<>& ring : view_->rings()) tasks_swept += ring.sweep(id);
      EventCount<>(common().work).forget(id - 1U);
      wake_everybody();
      if (cut_short) continue;
      start_producer();
    }
    for (auto it = owners_.begin(); it != owners_.end();) {
      const std::uint32_t r = it->first;
      const pid_t pid = it->second.pid();
      const int status = it->second.poll();
      if (status < 0) {
        ++it;
        continue;
      }
      it = owners_.erase(it);
      stopped_.erase(pid);
      if (status == 128 + SIGKILL) {
        start_owner(r);
      } else if (status != 0) {
        common().verdict.fail(fmt::format("the owner of ring {} ended with {}", r, status));
      }
    }
  }

  void end(bool early) {
    cut_short |= early;
    common().stop.store(1);
    wake_everybody();
  }

  // The owners have ended, and every death was swept: only living producers hold tasks.
  void look_for_strays() {
    for (const Ring<>& ring : view_->rings())
      for (std::uint32_t s = 0; s < ring.shape().slots; ++s)
        for (std::uint32_t k = 0; k < ring.shape().tasks; ++k) {
          const contract::Claimant holder = ring.task(s, k).claimant;
          if (holder != contract::kNobody && !producers_.contains(holder)) {
            common().verdict.fail(fmt::format("task {} of slot {} is left to {}, who is gone", k, s, holder));
          }
        }
  }

  void wake_everybody() {
    EventCount<>(common().work).notify_all();
    for (const Ring<>& ring : view_->rings()) EventCount<>(ring.header().ready).notify_all();
  }

  void harm() {
    const auto happens = [&](std::uint64_t one_in) { return !cut_short && one_in != 0 && chance_.one_in(one_in); };
    if (happens(storm_.kill_producer_one_in)) {
      any(producers_).kill(SIGKILL);
      ++producers_killed;
    }
    if (!owners_.empty() && happens(storm_.kill_owner_one_in)) {
      any(owners_).kill(SIGKILL);
      ++owners_killed;
    }
    if (happens(storm_.stop_one_in)) {
      const bool an_owner = !owners_.empty() && chance_.one_in(4);
      const Child& victim = an_owner ? any(owners_) : any(producers_);
      victim.kill(SIGSTOP);
      stopped_[victim.pid()] = monotonic_ns() + chance_.below(30'000'000);
      ++stops;
    }
    for (auto it = stopped_.begin(); it != stopped_.end();) {
      if (it->second > monotonic_ns()) {
        ++it;
      } else {
        ::kill(it->first, SIGCONT);
        it = stopped_.erase(it);
      }
    }
  }

  template <class Map>
  const Child& any(const Map& children) {
    return std::next(children.begin(), static_cast<std::ptrdiff_t>(chance_.below(children.size())))->second;
  }

  Storm storm_;
  std::uint64_t seed_;
  Chance chance_;
  UniqueFd common_;
  std::vector<UniqueFd> rings_;
  std::optional<View> view_;
  contract::Claimant last_id_ = 0;
  std::map<contract::Claimant, Child> producers_;
  std::map<std::uint32_t, Child> owners_;
  std::map<pid_t, std::uint64_t> stopped_;  // and when they go on
  std::string words_;
};

}  // namespace feedring::stress
