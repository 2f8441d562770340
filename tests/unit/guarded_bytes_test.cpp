// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/guarded_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <feedring/error.hpp>

namespace feedring {
namespace {

TEST(GuardedBytes, ReachTheSlot) {
  for (const bool guarded : {false, true}) {
    std::array<std::uint8_t, 4> slot{9, 9, 9, 9};
    GuardedBytes bytes(slot.data(), 3, guarded);
    EXPECT_EQ(bytes.data() == slot.data(), !guarded) << "without guards no copy is made";
    std::memcpy(bytes.data(), "abc", 3);
    bytes.put();
    EXPECT_EQ(slot, (std::array<std::uint8_t, 4>{'a', 'b', 'c', 9}));
  }
}

TEST(GuardedBytes, TellAStepTooFar) {
  for (const std::ptrdiff_t at : {std::ptrdiff_t{-1}, std::ptrdiff_t{3}}) {
    std::array<std::uint8_t, 3> slot{};
    GuardedBytes guarded(slot.data(), slot.size(), true);
    guarded.data()[at] = 1;
    EXPECT_THROW(guarded.put(), Error) << at;
  }
}

}  // namespace
}  // namespace feedring
