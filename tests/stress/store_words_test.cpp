// SPDX-License-Identifier: Apache-2.0
// Many threads fill and read one store at once: each entry is filled by one, and whoever finds it done sees all of it.
#include "runtime/store_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace feedring {
namespace {

constexpr std::size_t kEntries = 200;
constexpr std::size_t kBytes = 300;
using Picture = std::array<std::uint8_t, kBytes>;

std::uint8_t byte_of(std::size_t entry) { return static_cast<std::uint8_t>(1 + entry % 250); }

bool is_whole(const Picture& picture, std::size_t entry) {
  for (const std::uint8_t byte : picture) {
    if (byte != byte_of(entry)) return false;
  }
  return true;
}

TEST(StoreWordsUnderThreads, FillEachEntryOnceAndShowItWhole) {
  for (int round = 0; round < 20; ++round) {
    const auto memory = std::make_unique<std::array<std::atomic<std::uint32_t>, kEntries>>();
    const auto pictures = std::make_unique<std::array<Picture, kEntries>>();
    const StoreWords<> words(*memory);
    std::atomic<std::uint64_t> fills{0};
    std::atomic<std::uint64_t> torn{0};
    const auto work = [&](contract::Claimant self) {
      std::uint64_t random = self;
      for (int i = 0; i < 2000; ++i) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        const std::size_t entry = (random >> 33) % kEntries;
        if (words.is_done(entry)) {
          if (!is_whole((*pictures)[entry], entry)) torn.fetch_add(1, std::memory_order_relaxed);
        } else if (words.claim(entry, self)) {
          // One in eight fails: its claim is given back over whatever it wrote.
          const bool fails = (random >> 20 & 7) == 0;
          (*pictures)[entry].fill(fails ? 0 : byte_of(entry));
          if (fails) {
            words.give_back(entry);
          } else {
            fills.fetch_add(1, std::memory_order_relaxed);
            words.publish(entry);
          }
        }
      }
    };
    {
      std::vector<std::jthread> threads;
      for (contract::Claimant self = 1; self <= 4; ++self) threads.emplace_back(work, self);
    }
    EXPECT_EQ(torn.load(std::memory_order_relaxed), 0U);
    EXPECT_EQ(fills.load(std::memory_order_relaxed), words.filled());
    EXPECT_GT(words.filled(), kEntries / 2);
  }
}

}  // namespace
}  // namespace feedring
