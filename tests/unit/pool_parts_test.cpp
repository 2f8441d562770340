// SPDX-License-Identifier: Apache-2.0
// The producer's parts on hand-made states: who is served next, the arena, the reader.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "producers/pool/byte_arena.hpp"
#include "producers/pool/chooser.hpp"
#include "producers/pool/node_feed.hpp"
#include "producers/pool/reader.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {
namespace {

void expect_fault(const Reader::Bytes& bytes, const char* part) {
  ASSERT_TRUE(bytes.fault);
  EXPECT_NE(bytes.fault->find(part), std::string::npos) << *bytes.fault;
}

// ── who is served next ───────────────────────────────────────────────────────────────────────────────────────────

struct TestRing {
  std::unique_ptr<std::byte[], decltype(&std::free)> memory{nullptr, &std::free};
  Ring<> ring;

  TestRing(std::uint32_t slots, std::uint32_t tasks) {
    const contract::RingShape shape =
        lay_out_ring(slots, tasks, 8, image_feed_tensors(1, 1, Dtype::kUint8, Layout::kNhwc));
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(contract::kPage, shape.bytes)));
    std::memset(memory.get(), 0, shape.bytes);
    create_ring(memory.get(), shape);
    ring = Ring<>(memory.get(), shape);
  }
  void offer(std::uint32_t slot, std::uint64_t sequence) const { ring.offer(slot, {.sequence = sequence, .rows = 8}); }
  void owner(std::uint64_t next, bool waiting) const {
    ring.header().next.store(next, std::memory_order_relaxed);
    ring.header().waiting.store(waiting ? 1 : 0, std::memory_order_relaxed);
    ring.header().iterated.store(1, std::memory_order_relaxed);
  }
};

TEST(Chooser, FindsNothingInEmptyRings) {
  const TestRing a(2, 2);
  const std::vector<Ring<>> rings{a.ring};
  EXPECT_FALSE(choose(rings, 0));
  EXPECT_FALSE(choose({}, 0));
}

TEST(Chooser, TakesTheLowestSequenceOfARing) {
  const TestRing a(3, 2);
  a.offer(0, 7);
  a.offer(1, 5);
  a.offer(2, 6);
  const std::vector<Ring<>> rings{a.ring};
  EXPECT_EQ(choose(rings, 0)->slot, 1U);
}

TEST(Chooser, PassesOverASlotWhoseTasksAreAllClaimed) {
  const TestRing a(2, 2);
  a.offer(0, 5);
  a.offer(1, 6);
  for (std::uint32_t task = 0; task < 2; ++task) ASSERT_TRUE(a.ring.claim(0, task, 1, a.ring.slot(0)));
  const std::vector<Ring<>> rings{a.ring};
  EXPECT_EQ(choose(rings, 0)->slot, 1U);
}

TEST(Chooser, ServesTheWaitingOwnerThenTheSmallestLead) {
  const TestRing a(2, 1);
  const TestRing b(2, 1);
  a.owner(10, false);
  b.owner(3, false);
  a.offer(0, 11);  // lead 1
  b.offer(0, 6);   // lead 3
  const std::vector<Ring<>> rings{a.ring, b.ring};
  EXPECT_EQ(choose(rings, 0)->ring, 0U);
  b.owner(3, true);
  EXPECT_EQ(choose(rings, 0)->ring, 1U) << "an owner that waits comes first, whatever the lead";
}

TEST(Chooser, ServesAFeedThatNobodyIteratedLast) {
  const TestRing idle(1, 1);
  const TestRing busy(1, 1);
  idle.offer(0, 0);
  busy.owner(0, false);
  busy.offer(0, 9);
  const std::vector<Ring<>> rings{idle.ring, busy.ring};
  EXPECT_EQ(choose(rings, 0)->ring, 1U);
}

TEST(Chooser, TakesTiesInTurn) {
  const TestRing a(1, 1);
  const TestRing b(1, 1);
  for (const TestRing* ring : {&a, &b}) {
    ring->owner(0, false);
    ring->offer(0, 0);
  }
  const std::vector<Ring<>> rings{a.ring, b.ring};
  EXPECT_EQ(choose(rings, 0)->ring, 0U);
  EXPECT_EQ(choose(rings, 1)->ring, 1U);
}

TEST(Chooser, StartsEachProducerAtAPlaceOfItsOwn) {
  const TestRing a(1, 8);
  a.offer(0, 0);
  const SlotChoice choice{0, 0, a.ring.slot(0)};
  EXPECT_EQ(open_task(a.ring, choice, 0, 2), 0U);
  EXPECT_EQ(open_task(a.ring, choice, 1, 2), 4U);
  for (const std::uint32_t task : {4U, 5U, 6U, 7U}) ASSERT_TRUE(a.ring.claim(0, task, 2, choice.word));
  EXPECT_EQ(open_task(a.ring, choice, 1, 2), 0U) << "when its own are gone it helps the others";
}

TEST(Tasks, AreAboutFourAProducerAndNeverMoreThanRowsOrBits) {
  EXPECT_EQ(tasks_of_slot(2, 1, 64), 8U);
  EXPECT_EQ(tasks_of_slot(2, 2, 64), 4U);
  EXPECT_EQ(tasks_of_slot(1, 8, 64), 1U);
  EXPECT_EQ(tasks_of_slot(64, 1, 64), 32U);
  EXPECT_EQ(tasks_of_slot(8, 1, 3), 3U);
}

// ── the arena ────────────────────────────────────────────────────────────────────────────────────────────────────

TEST(ByteArena, GivesBlocksInACircle) {
  ByteArena arena(100);
  const auto a = arena.allocate(40);
  const auto b = arena.allocate(40);
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(arena.allocate(40)) << "20 bytes are left";
  arena.free(a->data());
  const auto c = arena.allocate(30);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->data(), a->data()) << "around, into the space of the oldest";
  EXPECT_FALSE(arena.allocate(20)) << "10 bytes are left before b";
  arena.free(b->data());
  EXPECT_TRUE(arena.allocate(60));
}

TEST(ByteArena, WaitsForTheOldestWhenBlocksAreFreedOutOfOrder) {
  ByteArena arena(100);
  const auto a = arena.allocate(50);
  const auto b = arena.allocate(50);
  arena.free(b->data());
  EXPECT_FALSE(arena.allocate(60));
  arena.free(a->data());
  EXPECT_TRUE(arena.allocate(100));
}

TEST(ByteArena, NeverGivesOverlappingBlocks) {
  ByteArena arena(1000);
  std::vector<std::span<std::uint8_t>> live;
  std::uint32_t state = 12345;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 1664525 + 1013904223;
    if (state >> 31 != 0 && !live.empty()) {
      const std::size_t victim = (state >> 8) % live.size();
      arena.free(live[victim].data());
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    } else if (const auto block = arena.allocate(1 + (state >> 8) % 300)) {
      for (const auto& other : live)
        ASSERT_TRUE(block->data() >= other.data() + other.size() || other.data() >= block->data() + block->size());
      live.push_back(*block);
    }
  }
}

// ── the reader ───────────────────────────────────────────────────────────────────────────────────────────────────

class ReaderTest : public ::testing::Test {
 protected:
  ReaderTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "feedring-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    directory_.reset(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  ~ReaderTest() override { std::filesystem::remove_all(folder_); }

  FileRequest file(std::uint64_t sample, std::size_t bytes) {
    const std::string& name = names_.emplace_back(std::to_string(sample));
    std::ofstream(folder_ / name, std::ios::binary) << std::string(bytes, static_cast<char>('a' + sample % 26));
    return {{0, sample}, directory_.get(), name, bytes};
  }
  static std::string text(const Reader::Bytes& bytes) { return {bytes.data.begin(), bytes.data.end()}; }

  std::filesystem::path folder_;
  UniqueFd directory_;
  std::deque<std::string> names_;
};

TEST_F(ReaderTest, GivesTheBytesOfAFileAndSlackBehindThem) {
  Reader reader;
  const auto bytes = reader.take(file(1, 1000));
  ASSERT_FALSE(bytes.fault);
  EXPECT_EQ(text(bytes), std::string(1000, 'b'));
  for (std::size_t i = 0; i < kSlack; ++i) EXPECT_EQ(bytes.data.data()[1000 + i], 0);
}

TEST_F(ReaderTest, GivesWhatWasReadAheadWhateverElseWasWanted) {
  Reader reader;
  std::vector<FileRequest> all;
  for (std::uint64_t i = 0; i < 100; ++i) all.push_back(file(i, 60'000));  // twice the arena
  for (std::size_t at = 0; at < all.size(); ++at) {
    // Guesses of every kind: right, wrong, too many.
    std::vector<FileRequest> soon(all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
    if (at % 3 == 1) soon.assign(all.rbegin(), all.rbegin() + 20);
    reader.want(soon);
    const auto bytes = reader.take(all[at]);
    ASSERT_FALSE(bytes.fault) << *bytes.fault;
    ASSERT_EQ(bytes.data.size(), 60'000U);
    ASSERT_EQ(bytes.data[0], 'a' + at % 26);
  }
}

TEST_F(ReaderTest, ReadsAFileThatIsLargerThanTheArena) {
  Reader reader;
  const FileRequest giant = file(3, 10'000'000);
  reader.want({giant, file(4, 10'000'000)});
  EXPECT_EQ(text(reader.take(giant)), std::string(10'000'000, 'd'));
}

TEST_F(ReaderTest, NamesWhatIsWrongWithAFile) {
  Reader reader;
  FileRequest changed = file(1, 100);
  changed.bytes = 90;
  expect_fault(reader.take(changed), "100 bytes where the index has 90");
  FileRequest missing = file(2, 10);
  std::filesystem::remove(folder_ / "2");
  expect_fault(reader.take(missing), "cannot be opened: No such file");
  const FileRequest folder = file(3, 10);
  std::filesystem::remove(folder_ / "3");
  std::filesystem::create_directory(folder_ / "3");
  expect_fault(reader.take(folder), "not a regular file");
}

TEST_F(ReaderTest, DoesNotHangOnAFifo) {
  Reader reader;
  const FileRequest fifo = file(5, 10);
  std::filesystem::remove(folder_ / "5");
  ASSERT_EQ(::mkfifo((folder_ / "5").c_str(), 0600), 0);
  expect_fault(reader.take(fifo), "not a regular file");
}

}  // namespace
}  // namespace feedring
