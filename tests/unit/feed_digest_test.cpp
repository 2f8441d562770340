// SPDX-License-Identifier: Apache-2.0
// The digest of a stream depends on what was delivered, not on how it was cut into batches or shared between ranks.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <feedring/feed.hpp>
#include <vector>

#include "consumers/drain/stream_digest.hpp"
#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using test::PoolSetting;
using test::TestPool;

std::string hex(unsigned __int128 value) {
  std::string text(32, '0');
  for (std::size_t i = 32; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[static_cast<unsigned>(value) & 15];
  return text;
}

/// By its definition: 8 bytes ordinal, 8 bytes label, pixels, least significant byte first.
unsigned __int128 hash_of(std::uint64_t ordinal, std::int64_t label, const std::vector<std::uint8_t>& pixels) {
  std::vector<std::uint8_t> bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<std::uint8_t>(ordinal >> shift));
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(label) >> shift));
  }
  bytes.insert(bytes.end(), pixels.begin(), pixels.end());
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return static_cast<unsigned __int128>(hash.high64) << 64 | hash.low64;
}

/// Of epoch 0 of the test pool's 23 samples, without `bad`.
unsigned __int128 expected_epoch(const std::set<std::uint64_t>& bad = {}) {
  unsigned __int128 sum = 0;
  for (std::uint64_t ordinal = 0; ordinal < 23; ++ordinal) {
    if (bad.contains(ordinal)) continue;
    sum += hash_of(ordinal, static_cast<std::int64_t>(ordinal % 7),
                   std::vector<std::uint8_t>(12, test::pattern(5, 0, ordinal)));
  }
  return sum;
}

std::string digest_of_epoch(TestPool& pool, std::uint32_t rank = 0, std::uint32_t world = 1) {
  pool.start();
  Feed feed = Feed::attach(pool.options(rank, world));
  StreamDigest digest;
  for (const Batch& batch : feed) digest.add(batch);
  return StreamDigest::text(digest.take());
}

TEST(StreamDigest, IsTheSumOfTheHashesOfOrdinalLabelAndPixelsWithoutPads) {
  for (const std::uint32_t batch : {1U, 4U, 5U, 23U, 30U}) {
    PoolSetting setting;
    setting.batch = batch;
    TestPool pool(setting);
    EXPECT_EQ(digest_of_epoch(pool), hex(expected_epoch())) << batch;
  }
}

TEST(StreamDigest, LeavesOutSamplesThatBecameZeros) {
  PoolSetting setting;
  setting.on_error = "zero";
  setting.error_budget = 1;
  TestPool pool(setting);
  pool.behaviour.bad = {3, 22};
  EXPECT_EQ(digest_of_epoch(pool), hex(expected_epoch({3, 22})));
}

TEST(StreamDigest, OfRanksAddUpToThatOfOne) {
  StreamDigest::Sum sum = 0;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    TestPool pool;
    const std::string part = digest_of_epoch(pool, rank, 3);
    StreamDigest::Sum value = 0;
    for (const char c : part) value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    sum += value;
  }
  EXPECT_EQ(hex(sum), hex(expected_epoch()));
}

TEST(StreamDigest, StartsAnewAfterItWasTaken) {
  StreamDigest digest;
  EXPECT_EQ(StreamDigest::text(digest.take()), std::string(32, '0'));
  const std::byte pixel{7};
  digest.add(1, -1, &pixel, 1);
  EXPECT_EQ(StreamDigest::text(digest.take()), hex(hash_of(1, -1, {7})));
  EXPECT_EQ(digest.take(), StreamDigest::Sum{0});
}

// The library has other code for long inputs, and other code again for each width of vectors.
TEST(StreamDigest, OfALongRowIsTheSame) {
  std::vector<std::uint8_t> pixels(224 * 224 * 3 + 1);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i >> 3);
  StreamDigest digest;
  digest.add(5, 6, reinterpret_cast<const std::byte*>(pixels.data()), pixels.size());
  EXPECT_EQ(StreamDigest::text(digest.take()), hex(hash_of(5, 6, pixels)));
}

}  // namespace
}  // namespace feedring
