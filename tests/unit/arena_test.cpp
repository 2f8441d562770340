// SPDX-License-Identifier: Apache-2.0
// The memory that decoders take from: aligned, limited, the same from image to image; and under AddressSanitizer a step
// from one piece into the next is seen.
#include "producers/decode/arena.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace feedring {
namespace {

constexpr std::size_t kMuch = std::size_t{1} << 24;

TEST(Arena, GivesAlignedPiecesThatDoNotOverlap) {
  Arena arena;
  arena.reset(kMuch);
  std::uintptr_t before = 0;
  for (const std::size_t bytes : {1UL, 63UL, 64UL, 65UL, 4096UL, 3UL}) {
    auto* piece = static_cast<std::uint8_t*>(arena.take(bytes));
    ASSERT_NE(piece, nullptr);
    std::memset(piece, 1, bytes);
    const auto at = reinterpret_cast<std::uintptr_t>(piece);
    EXPECT_EQ(at % Arena::kAlignment, 0U);
    EXPECT_GE(at, before);
    before = at + bytes;
  }
}

TEST(Arena, GivesTheSamePiecesToTheNextImage) {
  Arena arena;
  arena.reset(kMuch);
  void* const first = arena.take(1000);
  void* const second = arena.take(2000);
  arena.reset(kMuch);
  EXPECT_EQ(arena.take(1000), first);
  EXPECT_EQ(arena.take(2000), second);
}

TEST(Arena, KeepsToItsLimit) {
  Arena arena;
  arena.reset(1024);
  EXPECT_EQ(arena.take(1025), nullptr);
  EXPECT_NE(arena.take(1000), nullptr);  // 1024, rounded
  EXPECT_EQ(arena.take(1), nullptr);
  arena.reset(kMuch);
  EXPECT_EQ(arena.take(SIZE_MAX), nullptr);
  EXPECT_NE(arena.take(kMuch / 2), nullptr);  // more than the first block has
}

#if defined(__SANITIZE_ADDRESS__)
TEST(Arena, ShowsAStepOutOfAPiece) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Arena arena;
  for (int image = 0; image < 2; ++image) {
    arena.reset(kMuch);
    auto* volatile piece = static_cast<std::uint8_t*>(arena.take(64));
    ASSERT_NE(arena.take(64), nullptr);
    EXPECT_DEATH(piece[64] = 1, "use-after-poison");
    EXPECT_DEATH(piece[100] = 1, "use-after-poison");
  }
  auto* volatile old = static_cast<std::uint8_t*>(arena.take(500));
  arena.reset(kMuch);
  EXPECT_DEATH(old[0] = 1, "use-after-poison") << "what an earlier image was given";
}
#endif

}  // namespace
}  // namespace feedring
