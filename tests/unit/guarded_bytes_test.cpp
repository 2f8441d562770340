// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/guarded_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <feedring/error.hpp>

namespace feedring {
namespace {

TEST(GuardedBytes, ReachTheSlot) {
  std::array<std::uint8_t, 4> slot{9, 9, 9, 9};
  GuardedBytes guarded(slot.data(), 3);
  std::memcpy(guarded.data(), "abc", 3);
  guarded.put();
  EXPECT_EQ(slot, (std::array<std::uint8_t, 4>{'a', 'b', 'c', 9}));
}

TEST(GuardedBytes, OfADebugBuildTellAStepTooFar) {
#ifdef NDEBUG
  GTEST_SKIP() << "this build writes into the slot at once (NDEBUG)";
#else
  for (const std::ptrdiff_t at : {std::ptrdiff_t{-1}, std::ptrdiff_t{3}}) {
    std::array<std::uint8_t, 3> slot{};
    GuardedBytes guarded(slot.data(), slot.size());
    guarded.data()[at] = 1;
    EXPECT_THROW(guarded.put(), Error) << at;
  }
#endif
}

}  // namespace
}  // namespace feedring
