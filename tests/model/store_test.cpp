// SPDX-License-Identifier: Apache-2.0
// The shipped moves of a store (runtime/store_words.hpp) in every order: producers that fill, read and fail, one that
// dies anywhere, the supervisor's sweep and the successor. Nothing may be wrong with them; with each of the variants
// below, which have one thing wrong, something must be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/store_words.hpp"
#include "tests/model/atom.hpp"
#include "tests/model/explorer.hpp"

namespace feedring::model {
namespace {

constexpr std::size_t kProducers = 2;
constexpr std::size_t kSupervisor = kProducers;

struct Setting {
  bool may_fail = false;
  bool death_is_confirmed = true;  ///< else the supervisor sweeps after a producer that only seemed dead
};

// One entry, whose picture has two halves.
template <class Words>
class StoreWorld : public World {
 public:
  explicit StoreWorld(Setting setting) : setting_(setting) {}

  void begin() override {
    word_[0] = {};
    ghost_ = {};
    machine().reset(std::as_writable_bytes(std::span(word_)));
    machine().keep(std::as_writable_bytes(std::span(&ghost_, 1)));
    machine().name(word_.data(), word_.data() + 1, "word");
    for (std::size_t p = 0; p < kProducers; ++p) {
      machine().start(p, [this, p] { produce(p); }, {});
    }
    machine().start(kSupervisor, [this] { supervise(); }, {});
  }
  void outside(std::vector<Move>& moves) override {
    for (std::uint8_t p = 0; p < kProducers; ++p) {
      if (ghost_.deaths > 0 && machine().runs(p)) moves.push_back({Move::Kind::kKill, p});
      if ((ghost_.swept >> p & 1) != 0) moves.push_back({Move::Kind::kRestart, p});
    }
  }
  void apply(const Move& move) override {
    const std::size_t p = move.actor;
    if (move.kind == Move::Kind::kKill) {
      --ghost_.deaths;
      if (setting_.death_is_confirmed) machine().kill(p);
      machine().signals |= 1U << p;
      return;
    }
    ghost_.swept &= static_cast<std::uint8_t>(~(1U << p));
    if (setting_.death_is_confirmed) {
      machine().start(
          p, [this, p] { produce(p); }, machine().view(kSupervisor));
    }
  }
  void judge_end() override {
    for (std::size_t p = 0; p < kProducers; ++p) {
      if (machine().runs(p)) machine().fail("a producer waits");
    }
    const std::uint32_t left = *static_cast<const std::uint32_t*>(word_[0].at().address);
    if (left != contract::kStoreEmpty && left != contract::kStoreDone) machine().fail("an entry is lost");
  }
  [[nodiscard]] std::string name_of(std::size_t actor) const override {
    return actor == kSupervisor ? "supervisor" : "producer " + std::to_string(actor);
  }

 private:
  // Needs the picture three times, which is once more than it takes to fail, to fill and to find.
  void produce(std::size_t p) {
    const auto self = static_cast<contract::Claimant>(p + 1);
    for (int times = 0; times < 3; ++times) {
      machine().at(1, times);
      if (words().is_done(0)) {
        machine().read_cell(0);
        if (ghost_.half[0] != kPixels || ghost_.half[1] != kPixels) machine().fail("half a picture is delivered");
      } else if (words().claim(0, self)) {
        fill(times);
      }
    }
  }
  void fill(int times) {
    machine().at(2, times);
    for (std::uint8_t& half : ghost_.half) {
      machine().write_cell(0);
      half = kGarbage;  // what a decoder leaves on its way
      machine().moment();
      machine().write_cell(0);
      half = kPixels;
    }
    if (setting_.may_fail && machine().choose(2) == 1) {
      machine().write_cell(0);
      ghost_.half[0] = kGarbage;
      words().give_back(0);
    } else {
      words().publish(0);
    }
  }
  void supervise() {
    for (;;) {
      machine().at(0);
      const std::uint32_t bit = machine().await((1U << kProducers) - 1);
      const std::size_t p = bit == 1 ? 0 : 1;
      if (setting_.death_is_confirmed) machine().join(p);
      (void)words().sweep(static_cast<contract::Claimant>(p + 1));
      machine().signals &= ~bit;
      ghost_.swept |= static_cast<std::uint8_t>(bit);
    }
  }
  [[nodiscard]] Words words() { return Words(std::span(word_)); }

  static constexpr std::uint8_t kPixels = 7;
  static constexpr std::uint8_t kGarbage = 1;
  struct Ghost {
    std::uint8_t half[2] = {0, 0};
    std::uint8_t deaths = 1;
    std::uint8_t swept = 0;
  };
  Setting setting_;
  std::array<Atom<std::uint32_t>, 1> word_;
  Ghost ghost_;
};

template <class Words>
std::string wrong_with(Setting setting = {}) {
  StoreWorld<Words> world(setting);
  const Verdict verdict = explore(world);
  EXPECT_TRUE(verdict.complete || !verdict.violation.empty());
  return verdict.violation;
}

using Shipped = StoreWords<Atom>;

TEST(StoreInEveryOrder, DeliversWholePicturesWhoeverDiesOrFails) {
  EXPECT_EQ(wrong_with<Shipped>(), "");
  EXPECT_EQ(wrong_with<Shipped>({.may_fail = true}), "");
}

// ── what is found where one thing is wrong ───────────────────────────────────────────────────────────────────────

constexpr const char* kRace = "data race";
constexpr const char* kHalf = "half a picture";

struct Variant {
  explicit Variant(std::span<Atom<std::uint32_t>> all) : words(all), shipped(all) {}
  [[nodiscard]] bool is_done(std::size_t e) const { return shipped.is_done(e); }
  [[nodiscard]] bool claim(std::size_t e, contract::Claimant self) const { return shipped.claim(e, self); }
  void publish(std::size_t e) const { shipped.publish(e); }
  void give_back(std::size_t e) const { shipped.give_back(e); }
  std::uint64_t sweep(contract::Claimant dead) const { return shipped.sweep(dead); }
  std::span<Atom<std::uint32_t>> words;
  Shipped shipped;
};

struct RelaxedPublish : Variant {
  using Variant::Variant;
  void publish(std::size_t e) const { words[e].store(contract::kStoreDone, std::memory_order_relaxed); }
};
struct RelaxedDone : Variant {
  using Variant::Variant;
  [[nodiscard]] bool is_done(std::size_t e) const {
    return words[e].load(std::memory_order_relaxed) == contract::kStoreDone;
  }
};
struct RelaxedGiveBack : Variant {
  using Variant::Variant;
  void give_back(std::size_t e) const { words[e].store(contract::kStoreEmpty, std::memory_order_relaxed); }
};
struct RelaxedClaim : Variant {
  using Variant::Variant;
  [[nodiscard]] bool claim(std::size_t e, contract::Claimant self) const {
    std::uint32_t empty = contract::kStoreEmpty;
    return words[e].compare_exchange_strong(empty, self, std::memory_order_relaxed, std::memory_order_relaxed);
  }
};
struct ClaimInTwoSteps : Variant {
  using Variant::Variant;
  [[nodiscard]] bool claim(std::size_t e, contract::Claimant self) const {
    if (words[e].load(std::memory_order_acquire) != contract::kStoreEmpty) return false;
    words[e].store(self, std::memory_order_seq_cst);
    return true;
  }
};
struct RelaxedSweep : Variant {
  using Variant::Variant;
  std::uint64_t sweep(contract::Claimant dead) const {
    if (words[0].load(std::memory_order_relaxed) == dead)
      words[0].store(contract::kStoreEmpty, std::memory_order_relaxed);
    return 0;
  }
};
struct SweepOfEverybody : Variant {
  using Variant::Variant;
  std::uint64_t sweep(contract::Claimant /*dead*/) const {
    if (words[0].load(std::memory_order_relaxed) != contract::kStoreDone)
      words[0].store(contract::kStoreEmpty, std::memory_order_release);
    return 0;
  }
};
struct NoSweep : Variant {
  using Variant::Variant;
  std::uint64_t sweep(contract::Claimant /*dead*/) const { return 0; }
};
struct DoneAtTheClaim : Variant {
  using Variant::Variant;
  [[nodiscard]] bool claim(std::size_t e, contract::Claimant self) const {
    const bool claimed = shipped.claim(e, self);
    if (claimed) shipped.publish(e);
    return claimed;
  }
};

TEST(StoreInEveryOrder, BreaksWithAnyOrderWeakened) {
  EXPECT_THAT(wrong_with<RelaxedPublish>(), testing::HasSubstr(kRace));
  EXPECT_THAT(wrong_with<RelaxedDone>(), testing::HasSubstr(kRace));
  EXPECT_THAT(wrong_with<RelaxedGiveBack>({.may_fail = true}), testing::HasSubstr(kRace));
  EXPECT_THAT(wrong_with<RelaxedClaim>({.may_fail = true}), testing::HasSubstr(kRace));
  EXPECT_THAT(wrong_with<RelaxedSweep>(), testing::HasSubstr(kRace));
}

TEST(StoreInEveryOrder, BreaksWithAnyMoveMadeOtherwise) {
  EXPECT_THAT(wrong_with<ClaimInTwoSteps>(), testing::HasSubstr(kRace));
  EXPECT_THAT(wrong_with<SweepOfEverybody>(), testing::HasSubstr(kRace));
  EXPECT_EQ(wrong_with<NoSweep>(), "an entry is lost");
  EXPECT_THAT(wrong_with<DoneAtTheClaim>(), testing::AnyOf(testing::HasSubstr(kRace), testing::HasSubstr(kHalf)));
  EXPECT_THAT(wrong_with<Shipped>({.death_is_confirmed = false}), testing::HasSubstr(kRace))
      << "who only seemed dead writes on";
}

}  // namespace
}  // namespace feedring::model
