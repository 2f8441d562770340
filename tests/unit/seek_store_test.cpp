// SPDX-License-Identifier: Apache-2.0
// What one producer keeps of a picture another finds, of the same file alone; what a death leaves is opened again; and
// nothing that stands in the memory leads out of it.
#include "producers/pool/seek_store.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <feedring/error.hpp>
#include <random>

namespace feedring {
namespace {

using seekjpeg::Entry;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Entry> entries(std::size_t count, std::uint16_t first) {
  std::vector<Entry> all(count);
  for (Entry& entry : all) entry.low = first++;
  return all;
}

std::vector<std::uint16_t> found(SeekStore& store, std::size_t count) {
  std::vector<std::uint16_t> lows;
  for (const Entry& entry : store.find(count)) lows.push_back(entry.low);
  return lows;
}

// The memory of a store for so many samples and bytes of records.
class SeekStores : public testing::Test {
 protected:
  void make(std::uint64_t samples, std::uint64_t record_bytes) {
    layout_ = lay_out_seek_store(samples, record_bytes);
    fd_ = create_memfd("test", layout_.bytes);
    seal_size(fd_.get());
  }
  [[nodiscard]] SeekStore of(contract::Claimant self) const { return {fd_.get(), layout_, self}; }

  SeekLayout layout_;
  UniqueFd fd_;
};

TEST_F(SeekStores, LieWhereTheContractSaysSo) {
  make(3, 101);
  // A head of 64, three words of 4 up to the next multiple of 8, three places of 8; then records, to the page's end.
  EXPECT_EQ(layout_.places_offset, 80U);
  EXPECT_EQ(layout_.records_offset, 104U);
  EXPECT_EQ(layout_.record_bytes, 104U);
  EXPECT_EQ(layout_.bytes, 4096U);
}

TEST_F(SeekStores, GiveAnotherProducerWhatOneKept) {
  make(3, 1000);
  SeekStore one = of(1);
  SeekStore other = of(2);
  one.turn_to(1, 77);
  other.turn_to(1, 77);
  EXPECT_THAT(found(other, 4), IsEmpty());
  EXPECT_TRUE(one.wants(4));
  one.keep(entries(4, 10));
  EXPECT_THAT(found(other, 4), ElementsAre(10, 11, 12, 13));
  EXPECT_FALSE(other.wants(4));
  other.keep(entries(4, 50));  // too late
  EXPECT_THAT(found(one, 4), ElementsAre(10, 11, 12, 13));
  EXPECT_EQ(one.words().filled(), 1U);
  EXPECT_EQ(one.taken(), 16U + 40U);
}

TEST_F(SeekStores, KnowSampleTimeAndLength) {
  make(3, 1000);
  SeekStore store = of(1);
  store.turn_to(2, 77);
  store.keep(entries(4, 10));
  EXPECT_EQ(store.find(4).size(), 4U);
  EXPECT_THAT(store.find(5), IsEmpty());
  store.turn_to(2, 78);  // the file was written again
  EXPECT_THAT(store.find(4), IsEmpty());
  store.turn_to(0, 77);
  EXPECT_THAT(store.find(4), IsEmpty());
}

TEST_F(SeekStores, TakeNoMoreThanTheirBytes) {
  make(4, 112);  // a record of four entries is 16 + 40 bytes: two of them
  SeekStore store = of(1);
  for (std::uint64_t sample = 0; sample < 4; ++sample) {
    store.turn_to(sample, 1);
    EXPECT_EQ(store.wants(4), sample < 2) << sample;
    store.keep(entries(4, 10));
    EXPECT_EQ(store.find(4).size(), sample < 2 ? 4U : 0U) << sample;
  }
  EXPECT_FALSE(store.wants(100));
  EXPECT_EQ(store.words().filled(), 2U);
}

TEST_F(SeekStores, AreOpenedAgainWhereAProducerDiedAmidAnEntry) {
  make(2, 1000);
  SeekStore supervisor = of(contract::kNobody);
  ASSERT_TRUE(of(4).words().claim(1, 4));  // and dies
  SeekStore other = of(1);
  other.turn_to(1, 5);
  EXPECT_FALSE(other.wants(3));
  EXPECT_THAT(other.find(3), IsEmpty());
  EXPECT_EQ(supervisor.words().sweep(4), 1U);
  EXPECT_TRUE(other.wants(3));
  other.keep(entries(3, 1));
  EXPECT_THAT(found(other, 3), ElementsAre(1, 2, 3));
}

TEST_F(SeekStores, AreRefusedWhereTheMemoryIsAnother) {
  make(8, 2000);
  EXPECT_THROW(SeekStore(fd_.get(), lay_out_seek_store(8, 8000), 1), Error);
  const UniqueFd open = create_memfd("test", layout_.bytes);
  EXPECT_THROW(SeekStore(open.get(), layout_, 1), Error);
}

TEST_F(SeekStores, AreNotLedOutOfTheirMemory) {
  make(8, 2000);
  const Mapping raw(fd_.get(), Mapping::Access::kReadWrite);
  SeekStore store = of(3);
  std::mt19937_64 rng(1);
  std::size_t kept = 0;
  std::size_t seen = 0;
  for (int i = 0; i < 200'000; ++i) {
    if (i % 50 == 0) std::memset(raw.data(), 0, raw.size());
    const std::size_t word = rng() % (raw.size() / 8);
    // Small numbers, which lead somewhere, among all others; and words that say done.
    const std::uint64_t value = rng() % 3 == 0 ? contract::kStoreDone : rng() >> (rng() % 64);
    std::memcpy(raw.data() + word * 8, &value, sizeof value);
    const std::size_t count = rng() % 2 == 0 ? 4 : rng() % 300;
    store.turn_to(rng() % 8, rng() % 3);
    const auto all = store.find(count);
    ASSERT_TRUE(all.empty() || all.size() == count);
    seen += all.empty() ? 0 : 1;
    if (!store.wants(count)) continue;
    store.keep(entries(count, 1));
    ++kept;
  }
  EXPECT_GT(kept, 100U) << "or nothing was tried";
  EXPECT_GT(seen, 0U);
}

}  // namespace
}  // namespace feedring
