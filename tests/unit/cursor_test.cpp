// SPDX-License-Identifier: Apache-2.0
// Resume, seek, epochs and breaks are arithmetic on the cursor: small feeds in full, hand-written cases for the rules.
#include "consumers/cursor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace feedring {
namespace {

CursorSpec spec(std::uint64_t samples, std::uint32_t world, std::uint32_t batch,
                Remainder remainder = Remainder::kPad) {
  CursorSpec spec;
  spec.samples = samples;
  spec.world = world;
  spec.batch = batch;
  spec.remainder = remainder;
  spec.spec_hash = "spec";
  spec.dataset_digest = "data";
  return spec;
}

CursorSpec of_rank(CursorSpec spec, std::uint32_t rank) {
  spec.rank = rank;
  return spec;
}

std::vector<Cursor> ranks(const CursorSpec& each) {
  std::vector<Cursor> cursors;
  for (std::uint32_t rank = 0; rank < each.world; ++rank) cursors.emplace_back(of_rank(each, rank));
  return cursors;
}

/// Hands out one batch, as Feed::next() would; false: the epoch's end was told.
bool take(Cursor& cursor, std::vector<int>* times = nullptr) {
  if (cursor.at_end()) {
    if (!cursor.end_told()) {
      cursor.tell_end();
      return false;
    }
    cursor.roll();
  }
  const Wanted wanted = *cursor.want(0);
  for (std::uint32_t row = 0; times != nullptr && row < wanted.share.valid; ++row) ++(*times)[wanted.share.first + row];
  cursor.advance();
  return true;
}

std::uint64_t rest_of_epoch(Cursor& cursor, std::vector<int>* times = nullptr) {
  std::uint64_t steps = 0;
  while (take(cursor, times)) ++steps;
  return steps;
}

void expect_at(const Cursor& cursor, std::uint64_t epoch, std::uint64_t step) {
  EXPECT_EQ(cursor.epoch(), epoch);
  EXPECT_EQ(cursor.step(), step);
}

ErrorKind kind_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::kInternal;
}

TEST(Cursor, SavedAtAnyStepGoesOnAtAnyWorldAndBatchSizeWithNothingLostOrDoubled) {
  for (const std::uint64_t samples : {1, 5, 12, 23})
    for (std::uint32_t world = 1; world <= 3; ++world)
      for (std::uint32_t batch = 1; batch <= 4; ++batch)
        for (std::uint32_t other_world = 1; other_world <= 3; ++other_world)
          for (std::uint32_t other_batch = 1; other_batch <= 4; ++other_batch) {
            const std::uint64_t steps = Cursor(spec(samples, world, batch)).steps_per_epoch();
            for (std::uint64_t saved = 0; saved < steps; ++saved) {
              SCOPED_TRACE(testing::Message() << samples << " samples, " << world << "x" << batch << " -> "
                                              << other_world << "x" << other_batch << ", saved at " << saved);
              std::vector<int> times(samples, 0);
              std::vector<Cursor> before = ranks(spec(samples, world, batch));
              for (Cursor& cursor : before)
                for (std::uint64_t step = 0; step < saved; ++step) ASSERT_TRUE(take(cursor, &times));
              const std::string state = before[0].state();
              for (const Cursor& cursor : before) ASSERT_EQ(cursor.state(), state) << "equal on all ranks";

              std::vector<Cursor> after = ranks(spec(samples, other_world, other_batch));
              std::vector<std::uint64_t> taken;
              for (Cursor& cursor : after) {
                cursor.load_state(state);
                taken.push_back(rest_of_epoch(cursor, &times));
                expect_at(cursor, 1, 0);
              }
              ASSERT_EQ(std::count(times.begin(), times.end(), 1), static_cast<std::ptrdiff_t>(samples));
              ASSERT_EQ(std::count(taken.begin(), taken.end(), taken[0]), other_world) << "equal steps on all ranks";
            }
          }
}

TEST(Cursor, SavedAtAnyStepGoesOnWithTheVerySameBatchesAtTheSameWorldAndBatchSize) {
  for (const Remainder remainder : {Remainder::kDrop, Remainder::kPad}) {
    for (std::uint64_t saved = 0; saved <= 12; ++saved) {
      Cursor straight(of_rank(spec(23, 2, 3, remainder), 1));
      Cursor saver = straight;
      for (std::uint64_t step = 0; step < saved; ++step) {
        while (!take(saver)) {
        }
        while (!take(straight)) {
        }
      }
      Cursor resumed(of_rank(spec(23, 2, 3, remainder), 1));
      resumed.load_state(saver.state());
      EXPECT_EQ(resumed.state(), saver.state());
      for (std::uint64_t ahead = 0; ahead < 10; ++ahead) {
        const Wanted expected = *straight.want(ahead), got = *resumed.want(ahead);
        EXPECT_EQ(got.epoch, expected.epoch);
        EXPECT_EQ(got.step, expected.step);
        EXPECT_EQ(got.share.first, expected.share.first);
        EXPECT_EQ(got.share.valid, expected.share.valid);
      }
    }
  }
}

TEST(Cursor, WhatIsWantedAheadIsWhatComes) {
  for (const bool auto_epoch : {true, false}) {
    CursorSpec with = of_rank(spec(7, 2, 2), 1);
    with.auto_epoch = auto_epoch;
    Cursor cursor(with);
    for (int taken = 0; taken < 9; ++taken) {
      for (std::uint64_t ahead = 0; ahead < 8; ++ahead) {
        const Wanted wanted = *cursor.want(ahead);
        Cursor later = cursor;
        for (std::uint64_t step = 0; step < ahead; ++step) {
          while (!take(later)) {
          }
        }
        EXPECT_EQ(wanted.epoch, later.epoch()) << taken << " + " << ahead;
        EXPECT_EQ(wanted.step, later.step()) << taken << " + " << ahead;
        EXPECT_EQ(wanted.share.first, later.want(0)->share.first);
      }
      while (!take(cursor)) {
      }
    }
  }
}

TEST(Cursor, TellsTheEndOnceAndThenGoesOnWithTheNextEpoch) {
  Cursor cursor(spec(4, 1, 2));
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    expect_at(cursor, epoch, 0);
    EXPECT_TRUE(take(cursor));
    EXPECT_TRUE(take(cursor));
    expect_at(cursor, epoch + 1, 0);
    EXPECT_FALSE(take(cursor));
    expect_at(cursor, epoch + 1, 0);
  }
}

TEST(Cursor, AStateAfterTheLastStepIsTheNextEpochsStart) {
  Cursor cursor(spec(5, 1, 2, Remainder::kDrop));
  take(cursor);
  EXPECT_EQ(nlohmann::json::parse(cursor.state()).at("next_ordinal"), 2);
  take(cursor);
  const auto state = nlohmann::json::parse(cursor.state());
  EXPECT_EQ(state.at("epoch"), 1);
  EXPECT_EQ(state.at("next_ordinal"), 0) << "also where drop left one out";
  EXPECT_EQ(state.at("G"), 2);
  EXPECT_EQ(state.at("version"), 1);
  EXPECT_EQ(state.at("spec_hash"), "spec");
  EXPECT_EQ(state.at("dataset_digest"), "data");
}

TEST(Cursor, ANewIterationAfterABreakAtAnyStepStartsTheNextEpoch) {
  for (std::uint64_t broken_at = 1; broken_at <= 3; ++broken_at) {
    Cursor cursor(spec(6, 1, 2));
    cursor.start_epoch();
    for (std::uint64_t step = 0; step < broken_at; ++step) take(cursor);
    cursor.start_epoch();
    expect_at(cursor, 1, 0);
    cursor.start_epoch();
    expect_at(cursor, 1, 0);
    EXPECT_EQ(rest_of_epoch(cursor), 3U);
    cursor.start_epoch();
    expect_at(cursor, 2, 0);
  }
}

TEST(Cursor, ANewIterationAfterALoadOrASeekGoesOnThere) {
  Cursor cursor(spec(6, 1, 2));
  take(cursor);
  const std::string state = cursor.state();
  take(cursor);
  cursor.load_state(state);
  cursor.start_epoch();
  expect_at(cursor, 0, 1);
  cursor.seek(4, 2);
  cursor.start_epoch();
  expect_at(cursor, 4, 2);
}

TEST(Cursor, SetEpochPinsTheNextIterationAndIsNoOpWhereThatEpochIsNextAnyway) {
  Cursor cursor(spec(6, 1, 2));
  cursor.set_epoch(0);
  expect_at(cursor, 0, 0);
  cursor.set_epoch(5);
  expect_at(cursor, 5, 0);
  take(cursor);
  cursor.set_epoch(9);
  expect_at(cursor, 5, 1);  // the running iteration goes on
  EXPECT_EQ(rest_of_epoch(cursor), 2U);
  expect_at(cursor, 9, 0);
  EXPECT_TRUE(take(cursor));
  cursor.set_epoch(9);  // once more
  cursor.start_epoch();
  expect_at(cursor, 9, 0);
  EXPECT_EQ(rest_of_epoch(cursor), 3U);
  expect_at(cursor, 10, 0);  // a pin holds once
}

TEST(Cursor, SetEpochOfALoadedEpochKeepsTheLoadedStep) {
  Cursor cursor(spec(6, 1, 2));
  cursor.set_epoch(3);
  take(cursor);
  const std::string state = cursor.state();
  Cursor resumed(spec(6, 1, 2));
  resumed.load_state(state);
  resumed.set_epoch(3);
  expect_at(resumed, 3, 1);
  resumed.start_epoch();
  expect_at(resumed, 3, 1);
  resumed.set_epoch(4);
  expect_at(resumed, 4, 0);
}

TEST(Cursor, WithoutAutoEpochEveryIterationIsTheSameEpoch) {
  CursorSpec with = spec(4, 1, 2);
  with.auto_epoch = false;
  Cursor cursor(with);
  cursor.set_epoch(7);
  for (int iteration = 0; iteration < 3; ++iteration) {
    expect_at(cursor, 7, 0);
    EXPECT_EQ(rest_of_epoch(cursor), 2U);
  }
  EXPECT_EQ(cursor.want(0)->epoch, 7U);
  EXPECT_EQ(cursor.want(5)->epoch, 7U);
}

TEST(Cursor, WithoutRepeatNothingIsWantedBeyondTheEpochUntilTheNextIteration) {
  CursorSpec with = spec(4, 1, 2);
  with.repeat = false;
  Cursor cursor(with);
  EXPECT_TRUE(cursor.want(1));
  EXPECT_FALSE(cursor.want(2));
  EXPECT_EQ(rest_of_epoch(cursor), 2U);
  EXPECT_FALSE(cursor.want(0));
  cursor.start_epoch();
  EXPECT_TRUE(cursor.want(0));
  expect_at(cursor, 1, 0);
}

TEST(Cursor, LoadsAStateThatLeavesNoWholeStepAsAnEpochThatIsOver) {
  Cursor saver(spec(10, 1, 4, Remainder::kDrop));
  take(saver);
  take(saver);
  auto state = nlohmann::json::parse(saver.state());
  state["epoch"] = 3;
  state["next_ordinal"] = 8;
  Cursor cursor(spec(10, 1, 4, Remainder::kDrop));
  cursor.load_state(state.dump());
  EXPECT_FALSE(take(cursor)) << "2 samples are no step of 4";
  EXPECT_TRUE(take(cursor));
  expect_at(cursor, 4, 1);
}

TEST(Cursor, RefusesTheStateOfOtherDataOrAnotherSpecWithBothValues) {
  const std::string state = Cursor(spec(6, 1, 2)).state();
  for (const char* field : {"spec_hash", "dataset_digest"}) {
    auto other = nlohmann::json::parse(state);
    other[field] = "0123other";
    Cursor cursor(spec(6, 1, 2));
    take(cursor);
    try {
      cursor.load_state(other.dump());
      FAIL() << field;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      EXPECT_NE(std::string(error.what()).find("0123other"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(field[0] == 's' ? "spec" : "data"), std::string::npos) << error.what();
    }
    expect_at(cursor, 0, 1);
  }
}

TEST(Cursor, RefusesWhatIsNoState) {
  Cursor cursor(spec(6, 1, 2));
  const auto good = nlohmann::json::parse(cursor.state());
  const auto with = [&](const char* key, const nlohmann::json& value) {
    auto changed = good;
    changed[key] = value;
    return changed.dump();
  };
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{\"version\":1"), with("epoch", -1), with("epoch", 1.5),
        with("next_ordinal", 7), with("seed", "0"), with("spec_hash", 3)}) {
    EXPECT_EQ(kind_of([&] { cursor.load_state(text); }), ErrorKind::kUsage) << text;
  }
  EXPECT_EQ(kind_of([&] { cursor.load_state(with("version", 2)); }), ErrorKind::kRefused);
  expect_at(cursor, 0, 0);
}

TEST(Cursor, TakesTheSeedFromTheState) {
  CursorSpec with = spec(6, 1, 2);
  with.seed = 18446744073709551615U;
  Cursor cursor(spec(6, 1, 2));
  cursor.load_state(Cursor(with).state());
  EXPECT_EQ(cursor.seed(), 18446744073709551615U);
}

TEST(Cursor, RefusesAStepBeyondTheEpochAndAnEpochWithoutASteps) {
  Cursor cursor(spec(6, 1, 2));
  cursor.seek(2, 3);
  EXPECT_FALSE(take(cursor));
  EXPECT_EQ(kind_of([&] { cursor.seek(2, 4); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([] { Cursor(spec(6, 4, 2, Remainder::kDrop)); }), ErrorKind::kUsage);
}

TEST(Cursor, UnderExactALoadThatLeavesARemainderIsAnErrorAndChangesNothing) {
  const Cursor saver(spec(12, 1, 3, Remainder::kExact));
  auto state = nlohmann::json::parse(saver.state());
  state["next_ordinal"] = 3;
  Cursor cursor(spec(12, 1, 4, Remainder::kExact));
  EXPECT_EQ(kind_of([&] { cursor.load_state(state.dump()); }), ErrorKind::kUsage);
  expect_at(cursor, 0, 0);
  EXPECT_EQ(rest_of_epoch(cursor), 3U);
}

TEST(Cursor, KnowsTheShareOfARankInAnEpoch) {
  for (const Remainder remainder : {Remainder::kDrop, Remainder::kPad}) {
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      Cursor cursor(of_rank(spec(17, 3, 2, remainder), rank));
      std::vector<int> times(17, 0);
      rest_of_epoch(cursor, &times);
      EXPECT_EQ(cursor.share_of_epoch(), static_cast<std::uint64_t>(std::count(times.begin(), times.end(), 1)));
    }
  }
}

}  // namespace
}  // namespace feedring
