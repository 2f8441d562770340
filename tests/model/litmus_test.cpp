// SPDX-License-Identifier: Apache-2.0
// The machine itself: what it lets small programs see is what C++20 lets them see, no less (a fault would go unseen)
// and no more (a sound program would be blamed). The programs are the classic ones; their names are those of the
// literature on memory models.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/model/atom.hpp"
#include "tests/model/explorer.hpp"

namespace feedring::model {
namespace {

struct Shared {
  Atom<std::uint64_t> x;
  Atom<std::uint64_t> y;
  Atom<std::uint32_t> bell;
};
struct Results {
  std::array<std::uint64_t, 4> of{};
};

// Actors that each run once; `forbidden` says which results must not be at the end.
class Litmus : public World {
 public:
  using Program = std::function<void(Shared&, Results&)>;
  Litmus(std::vector<Program> programs, std::function<bool(const Results&)> forbidden)
      : programs_(std::move(programs)), forbidden_(std::move(forbidden)) {}

  void begin() override {
    shared_ = {};
    results_ = {};
    machine().reset(std::as_writable_bytes(std::span(&shared_, 1)));
    machine().keep(std::as_writable_bytes(std::span(&results_, 1)));
    for (std::size_t a = 0; a < programs_.size(); ++a) {
      const auto program = [this, a] {
        machine().moment();  // everybody is there before anybody writes
        programs_[a](shared_, results_);
      };
      machine().start(a, program, {});
    }
  }
  void outside(std::vector<Move>& /*moves*/) override {}
  void apply(const Move& /*outside*/) override {}
  void judge_end() override {
    for (std::size_t a = 0; a < programs_.size(); ++a) {
      if (machine().runs(a)) machine().fail("deadlock");
    }
    if (forbidden_(results_)) machine().fail("forbidden");
  }
  [[nodiscard]] std::string name_of(std::size_t actor) const override { return std::to_string(actor); }

 private:
  std::vector<Program> programs_;
  std::function<bool(const Results&)> forbidden_;
  Shared shared_;
  Results results_;
};

std::string ends_with(std::vector<Litmus::Program> programs, std::function<bool(const Results&)> asked) {
  Litmus litmus(std::move(programs), std::move(asked));
  const Verdict verdict = explore(litmus);
  EXPECT_TRUE(verdict.complete || !verdict.violation.empty());
  return verdict.violation;
}

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kSeqCst = std::memory_order_seq_cst;

// Message passing: y is set after x; who sees y, does it see x?
std::string message_passing(std::memory_order store, std::memory_order load) {
  return ends_with({[store](Shared& s, Results&) {
                      s.x.store(1, kRelaxed);
                      s.y.store(1, store);
                    },
                    [load](Shared& s, Results& r) {
                      r.of[0] = s.y.load(load);
                      r.of[1] = s.x.load(kRelaxed);
                    }},
                   [](const Results& r) { return r.of[0] == 1 && r.of[1] == 0; });
}

TEST(Litmus, MessagePassing) {
  EXPECT_EQ(message_passing(kRelease, kAcquire), "");
  EXPECT_EQ(message_passing(kRelaxed, kAcquire), "forbidden");
  EXPECT_EQ(message_passing(kRelease, kRelaxed), "forbidden");
}

// Store buffering: may both miss the other's store?
std::string store_buffering(std::memory_order store, std::memory_order load) {
  return ends_with({[store, load](Shared& s, Results& r) {
                      s.x.store(1, store);
                      r.of[0] = s.y.load(load) + 1;
                    },
                    [store, load](Shared& s, Results& r) {
                      s.y.store(1, store);
                      r.of[1] = s.x.load(load) + 1;
                    }},
                   [](const Results& r) { return r.of[0] == 1 && r.of[1] == 1; });
}

TEST(Litmus, StoreBuffering) {
  EXPECT_EQ(store_buffering(kSeqCst, kSeqCst), "");
  EXPECT_EQ(store_buffering(kRelease, kAcquire), "forbidden");
  EXPECT_EQ(store_buffering(kRelaxed, kSeqCst), "forbidden");
  EXPECT_EQ(store_buffering(kSeqCst, kRelaxed), "forbidden");
}

// A word that nobody ever stored to brings no news, however late it is first touched.
TEST(Litmus, AnAcquireOfAnUntouchedWordOrdersNothing) {
  const auto asks = [](bool cells) {
    return ends_with({[cells](Shared& s, Results&) {
                        if (cells) machine().write_cell(0);
                        s.x.store(1, kRelaxed);
                        machine().moment();
                        machine().signals |= 1;
                      },
                      [cells](Shared& s, Results& r) {
                        (void)machine().await(1);
                        (void)s.y.load(machine().choose(2) == 0 ? kRelaxed : kAcquire);
                        if (cells) machine().read_cell(0);
                        r.of[0] = s.x.load(kRelaxed) + 1;
                      }},
                     [cells](const Results& r) { return !cells && r.of[0] == 1; });
  };
  EXPECT_EQ(asks(false), "forbidden");
  EXPECT_EQ(asks(true), "data race: actor 1 reads cell 0 and is not ordered after the last write");
}

// Coherence: who has seen the newer value of a word does not see the older one again.
TEST(Litmus, CoherenceOfReads) {
  EXPECT_EQ(ends_with({[](Shared& s, Results&) { s.x.store(1, kRelaxed); },
                       [](Shared& s, Results& r) {
                         r.of[0] = s.x.load(kRelaxed);
                         r.of[1] = s.x.load(kRelaxed);
                       }},
                      [](const Results& r) { return r.of[0] == 1 && r.of[1] == 0; }),
            "");
}

// A read-modify-write between release and acquire keeps the two together; a store does not.
std::string release_sequence(bool update) {
  return ends_with({[](Shared& s, Results&) {
                      s.x.store(1, kRelaxed);
                      s.y.store(1, kRelease);
                    },
                    [update](Shared& s, Results&) {
                      if (s.y.load(kRelaxed) != 1) return;
                      if (update) {
                        s.y.fetch_add(1, kRelaxed);
                      } else {
                        s.y.store(2, kRelaxed);
                      }
                    },
                    [](Shared& s, Results& r) {
                      r.of[0] = s.y.load(kAcquire);
                      r.of[1] = s.x.load(kRelaxed);
                    }},
                   [](const Results& r) { return r.of[0] == 2 && r.of[1] == 0; });
}

TEST(Litmus, ReleaseSequence) {
  EXPECT_EQ(release_sequence(true), "");
  EXPECT_EQ(release_sequence(false), "forbidden");
}

// Read-modify-writes lose nothing; a load and a store do.
TEST(Litmus, ReadModifyWrite) {
  const auto sum_is_short = [](const Results& r) { return r.of[0] + r.of[1] != 1; };
  const auto add = [](std::size_t who) {
    return [who](Shared& s, Results& r) { r.of[who] = s.x.fetch_add(1, kRelaxed); };
  };
  EXPECT_EQ(ends_with({add(0), add(1)}, sum_is_short), "");
  const auto load_and_store = [](std::size_t who) {
    return [who](Shared& s, Results& r) {
      r.of[who] = s.x.load(kSeqCst);
      s.x.store(r.of[who] + 1, kSeqCst);
    };
  };
  EXPECT_EQ(ends_with({load_and_store(0), load_and_store(1)}, sum_is_short), "forbidden");
}

TEST(Litmus, CompareExchangeLetsOneWin) {
  const auto claim = [](std::size_t who) {
    return [who](Shared& s, Results& r) {
      std::uint64_t expected = 0;
      r.of[who] = s.x.compare_exchange_strong(expected, who + 1, kAcquire, kRelaxed) ? 1 : 0;
    };
  };
  EXPECT_EQ(ends_with({claim(0), claim(1)}, [](const Results& r) { return r.of[0] + r.of[1] != 1; }), "");
}

// Plain data: ordered accesses are no race, whatever the order tried; unordered ones are found without being met.
std::string plain_data(std::memory_order store, std::memory_order load) {
  return ends_with({[store](Shared& s, Results&) {
                      machine().write_cell(0);
                      s.y.store(1, store);
                    },
                    [load](Shared& s, Results&) {
                      if (s.y.load(load) == 1) machine().read_cell(0);
                    }},
                   [](const Results&) { return false; });
}

TEST(Litmus, DataRaces) {
  EXPECT_EQ(plain_data(kRelease, kAcquire), "");
  EXPECT_EQ(plain_data(kRelaxed, kAcquire), "data race: actor 1 reads cell 0 and is not ordered after the last write");
  EXPECT_EQ(plain_data(kRelease, kRelaxed), "data race: actor 1 reads cell 0 and is not ordered after the last write");
}

TEST(Litmus, AReadMustBeOrderedBeforeTheNextWrite) {
  const auto turns = [](std::memory_order back) {
    return ends_with({[](Shared& s, Results&) {
                        machine().write_cell(0);
                        s.y.store(1, kRelease);
                        if (s.x.load(kAcquire) == 1) machine().write_cell(0);
                      },
                      [back](Shared& s, Results&) {
                        if (s.y.load(kAcquire) != 1) return;
                        machine().read_cell(0);
                        s.x.store(1, back);
                      }},
                     [](const Results&) { return false; });
  };
  EXPECT_EQ(turns(kRelease), "");
  EXPECT_EQ(turns(kRelaxed), "data race: actor 0 writes cell 0 and is not ordered after a read");
}

// A sleeper that nobody wakes sleeps for ever, unless the word has changed before it fell asleep.
TEST(Litmus, SleepingAndWaking) {
  const auto sleeper = [](Shared& s, Results&) {
    while (s.x.load(kSeqCst) == 0) {
      const std::uint32_t seen = s.bell.load(kSeqCst);
      if (s.x.load(kSeqCst) == 0) futex_wait(&s.bell, seen, 0);
    }
  };
  const auto waker = [](bool rings, bool wakes) {
    return [rings, wakes](Shared& s, Results&) {
      s.x.store(1, kSeqCst);
      if (rings) s.bell.fetch_add(1, kSeqCst);
      if (wakes) futex_wake(&s.bell, 1);
    };
  };
  const auto never = [](const Results&) { return false; };
  EXPECT_EQ(ends_with({sleeper, waker(true, true)}, never), "");
  EXPECT_EQ(ends_with({sleeper, waker(true, false)}, never), "deadlock") << "asleep before the ring, nobody wakes it";
  EXPECT_EQ(ends_with({sleeper, waker(false, true)}, never), "deadlock") << "falls asleep after the wake";
}

}  // namespace
}  // namespace feedring::model
