// SPDX-License-Identifier: Apache-2.0
// A store in one process: its words, whatever they hold, and where its entries lie. Numbers are by hand.
#include "producers/pool/decoded_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <feedring/error.hpp>
#include <limits>

#include "producers/decode/image.hpp"

namespace feedring {
namespace {

using contract::kStoreDone;
using contract::kStoreEmpty;
using testing::HasSubstr;

class StoreWordsOfFour : public testing::Test {
 protected:
  [[nodiscard]] std::uint32_t word(std::size_t entry) const { return memory_[entry].load(std::memory_order_relaxed); }
  void put(std::size_t entry, std::uint32_t value) { memory_[entry].store(value, std::memory_order_relaxed); }

  std::array<std::atomic<std::uint32_t>, 4> memory_{};
  StoreWords<> words_{memory_};
};

TEST_F(StoreWordsOfFour, AreEmptyWhereMemoryIsFresh) {
  for (std::size_t entry = 0; entry < 4; ++entry) EXPECT_FALSE(words_.is_done(entry));
  EXPECT_EQ(words_.filled(), 0U);
}

TEST_F(StoreWordsOfFour, GoToOneClaimantThatPublishesOrGivesBack) {
  EXPECT_TRUE(words_.claim(2, 7));
  EXPECT_EQ(word(2), 7U);
  EXPECT_FALSE(words_.claim(2, 8)) << "another's";
  EXPECT_FALSE(words_.claim(2, 7)) << "its own, a second time";
  EXPECT_FALSE(words_.is_done(2));
  words_.give_back(2);
  EXPECT_EQ(word(2), kStoreEmpty);
  EXPECT_TRUE(words_.claim(2, 8));
  words_.publish(2);
  EXPECT_TRUE(words_.is_done(2));
  EXPECT_FALSE(words_.claim(2, 7)) << "done for ever";
  EXPECT_EQ(words_.filled(), 1U);
}

TEST_F(StoreWordsOfFour, AreSweptOfTheDeadClaimantAlone) {
  ASSERT_TRUE(words_.claim(0, 3));
  ASSERT_TRUE(words_.claim(1, 4));
  ASSERT_TRUE(words_.claim(3, 3));
  words_.publish(3);
  EXPECT_EQ(words_.sweep(3), 1U);
  EXPECT_EQ(word(0), kStoreEmpty);
  EXPECT_EQ(word(1), 4U) << "who lives keeps its claim";
  EXPECT_EQ(word(3), kStoreDone) << "what the dead one finished stays";
  EXPECT_EQ(words_.sweep(3), 0U);
}

TEST_F(StoreWordsOfFour, ThatHoldNonsenseAreNeitherReadNorClaimed) {
  for (const std::uint32_t nonsense : {kStoreDone + 1, kStoreDone | 1, 0xFFFFU, 0x20000U, 0xFFFFFFFFU, 257U}) {
    put(1, nonsense);
    EXPECT_FALSE(words_.is_done(1)) << nonsense;
    EXPECT_FALSE(words_.claim(1, 5)) << nonsense;
    EXPECT_EQ(words_.sweep(5), 0U) << nonsense;
    EXPECT_EQ(words_.filled(), 0U) << nonsense;
    EXPECT_EQ(word(1), nonsense) << "nobody's business";
  }
}

TEST(StoreLayout, GivesEachTurnOfEachSampleAnEntryWithSlackBehindIt) {
  // 5 x 4 pixels: 60 bytes and 64 of slack are 124, two lines; 3 samples with one turn are 6 words, 24 bytes, a page.
  const StoreLayout layout = lay_out_store(3, 60, {ClassAugment::kRotate90});
  EXPECT_EQ(layout.entries(), 6U);
  EXPECT_EQ(layout.entry_stride, 128U);
  EXPECT_EQ(layout.entries_offset, 4096U);
  EXPECT_EQ(layout.bytes, 8192U);
  // The store that a few-shot benchmark asks for: 64 classes of 600 pictures of 84 x 84.
  const StoreLayout large = lay_out_store(38400, 84ULL * 84 * 3, {});
  EXPECT_EQ(large.entry_stride, 21248U);  // 21168 + 64, up to the next line
  EXPECT_EQ(large.bytes, 153600U + 2048U + 38400ULL * 21248U) << "the words end amid a page";
}

TEST(StoreLayout, ThatNoMachineCanHoldIsRefused) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT([] { (void)lay_out_store(kMost, 100, {}); }, testing::ThrowsMessage<Error>(HasSubstr("leave out cache")));
  EXPECT_THROW((void)lay_out_store(std::uint64_t{1} << 40, std::uint64_t{1} << 30, {ClassAugment::kRotate90}), Error);
  EXPECT_THROW((void)lay_out_store((std::uint64_t{1} << 63) + 1, 1, {ClassAugment::kRotate90}), Error)
      << "twice as many entries are 2, where numbers end at 2^64";
}

class Store : public testing::Test {
 protected:
  Store() {
    fd_ = create_memfd("test-store", layout_.bytes);
    seal_size(fd_.get());
  }
  StoreLayout layout_ = lay_out_store(3, 60, {ClassAugment::kRotate180, ClassAugment::kFlipVertical});
  UniqueFd fd_;
};

TEST_F(Store, ShowsOneProducerWhatAnotherPublished) {
  const DecodedStore one(fd_.get(), layout_, 1);
  const DecodedStore two(fd_.get(), layout_, 2);
  const std::size_t entry = *one.entry(1, ClassAugment::kFlipVertical);
  EXPECT_EQ(entry, 2U * 3 + 1);
  std::uint8_t* room = one.claim(entry);
  ASSERT_NE(room, nullptr);
  std::memset(room, 9, 60);
  EXPECT_EQ(two.find(entry), nullptr);
  EXPECT_EQ(two.claim(entry), nullptr);
  one.publish(entry);
  const std::uint8_t* seen = two.find(entry);
  ASSERT_NE(seen, nullptr);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(seen[i], 9);
  EXPECT_EQ(two.words().filled(), 1U);
}

TEST_F(Store, HasEntriesForTheTurnsThatItWasMadeForAlone) {
  const DecodedStore store(fd_.get(), layout_, 1);
  EXPECT_EQ(store.entry(2, std::nullopt), 2U);
  EXPECT_EQ(store.entry(0, ClassAugment::kRotate180), 3U);
  EXPECT_EQ(store.entry(2, ClassAugment::kFlipVertical), 8U);
  EXPECT_EQ(store.entry(0, ClassAugment::kRotate90), std::nullopt);
}

TEST_F(Store, OpensWhatADeadProducerHalfFilledAndItsSuccessorFillsItAnew) {
  const DecodedStore supervisor(fd_.get(), layout_, contract::kNobody);
  {
    const DecodedStore dead(fd_.get(), layout_, 4);
    std::uint8_t* room = dead.claim(0);
    ASSERT_NE(room, nullptr);
    std::memset(room, 0xEE, 30);
  }
  EXPECT_EQ(supervisor.words().sweep(4), 1U);
  const DecodedStore successor(fd_.get(), layout_, 4);
  EXPECT_EQ(successor.find(0), nullptr) << "half a picture";
  std::uint8_t* room = successor.claim(0);
  ASSERT_NE(room, nullptr);
  std::memset(room, 5, 60);
  successor.publish(0);
  EXPECT_EQ(successor.find(0)[0], 5);
}

TEST_F(Store, IsNotTakenFromMemoryThatCouldShrinkOrHasAnotherSize) {
  const UniqueFd open = create_memfd("test-store", layout_.bytes);
  EXPECT_THROW(DecodedStore(open.get(), layout_, 1), Error);
  EXPECT_THROW(DecodedStore(fd_.get(), lay_out_store(1000, 60, {}), 1), Error);
}

}  // namespace
}  // namespace feedring
