// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/failure_list.hpp"

#include <gtest/gtest.h>

namespace feedring {
namespace {

nlohmann::json failure(unsigned ring, unsigned slot, unsigned turn, unsigned row) {
  return {{"op", "failure"}, {"feed", "train"}, {"epoch", 0},    {"ordinal", 7}, {"index", 3},
          {"path", "a.jpg"}, {"bytes", 9},      {"reason", "x"}, {"outcome", 3}, {"ring", ring},
          {"slot", slot},    {"turn", turn},    {"row", row}};
}

TEST(FailureList, CountsARowOfATurnOnceWhoeverReportsIt) {
  FailureList list(std::nullopt);
  list.add(failure(0, 2, 5, 1));
  list.add(failure(0, 2, 5, 3));
  list.add(failure(0, 2, 5, 1));  // by the successor of a producer that died
  EXPECT_EQ(list.count(), 2U);
  list.add(failure(1, 2, 5, 1));  // another ring, another slot, the next turn
  list.add(failure(0, 1, 5, 1));
  list.add(failure(0, 2, 6, 1));
  EXPECT_EQ(list.count(), 5U);
  list.add(failure(0, 2, 6, 1));
  EXPECT_EQ(list.count(), 5U);
  list.add(failure(0, 2, 5, 2));  // late, in another producer's channel
  list.add(failure(0, 2, 6, 1));
  EXPECT_EQ(list.count(), 6U);
}

TEST(FailureList, StaysSmallWhateverNumbersAProducerInvents) {
  FailureList list(std::nullopt);
  list.add(failure(0, 0, 1, 1));
  list.add(failure(0, 0, 1, 1));
  EXPECT_EQ(list.count(), 1U);
  nlohmann::json invented = failure(7, 7, 7, 0);
  for (unsigned row = 0; row < 1'000'000; ++row) {
    invented["row"] = row;
    list.add(invented);
  }
  list.add(failure(0, 0, 1, 1));  // forgotten meanwhile
  EXPECT_EQ(list.count(), 1'000'002U);
}

}  // namespace
}  // namespace feedring
