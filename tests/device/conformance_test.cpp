// SPDX-License-Identifier: Apache-2.0
// What every Device must keep, whatever it drives; a kind that this machine does not have is skipped by name.
#include <array>
#include <atomic>
#include <cstring>
#include <feedring/error.hpp>
#include <thread>

#include "tests/device/kinds.hpp"

namespace feedring::test {
namespace {

using std::chrono::milliseconds;

INSTANTIATE_TEST_SUITE_P(HostDevice, DeviceConformance, testing::Values(host("at_once", {})));
INSTANTIATE_TEST_SUITE_P(DelayedHostDevice, DeviceConformance,
                         testing::Values(host("late", {.delay = milliseconds(3)})));
INSTANTIATE_TEST_SUITE_P(RandomHostDevice, DeviceConformance,
                         testing::Values(host_that_copies("seed_1", milliseconds(2), 1),
                                         host_that_copies("seed_2", milliseconds(2), 2)));
INSTANTIATE_TEST_SUITE_P(FakeCuda, DeviceConformance, testing::Values(fake_cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, DeviceConformance, testing::Values(real_cuda()));

TEST_P(DeviceConformance, HasANameAndNoFailure) {
  EXPECT_FALSE(device->name().empty());
  EXPECT_EQ(device->failure(), "");
}

// ── events ───────────────────────────────────────────────────────────────────────────────────────────────────────

TEST_P(DeviceConformance, FiresEventsInTheOrderOfTheirRecording) {
  std::vector<std::shared_ptr<Event>> events;
  for (int i = 0; i < 20; ++i) events.push_back(device->record());
  for (std::size_t last = events.size(); last-- > 0;) {
    if (!events[last]->fired()) continue;
    for (std::size_t i = 0; i < last; ++i) EXPECT_TRUE(events[i]->fired()) << i << " before " << last;
    break;
  }
  EXPECT_TRUE(events.back()->wait(kLong));
  for (const auto& event : events) EXPECT_TRUE(event->fired());
}

TEST_P(DeviceConformance, AFiredEventStaysFired) {
  const auto event = device->record();
  ASSERT_TRUE(event->wait(kLong));
  EXPECT_TRUE(event->fired());
  EXPECT_TRUE(event->wait(std::chrono::nanoseconds(0)));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(device->record()->wait(kLong));
  EXPECT_TRUE(event->fired()) << "also after others were recorded";
}

TEST_P(DeviceConformance, RunsEachActionExactlyOnceAndNotBeforeItsEvent) {
  std::atomic<int> ran = 0;
  std::atomic<int> early = 0;
  std::vector<std::shared_ptr<Event>> events;
  for (int i = 0; i < 10; ++i) {
    events.push_back(device->record());
    const auto& event = events.back();
    for (int action = 0; action < 3; ++action) {
      event->then([&ran, &early, watched = event.get()] {
        if (!watched->fired()) ++early;
        ++ran;
      });
    }
  }
  ASSERT_TRUE(events.back()->wait(kLong));
  EXPECT_TRUE(soon([&] { return ran == 30; })) << ran;
  EXPECT_EQ(early, 0);
}

TEST_P(DeviceConformance, RunsAnActionAtOnceWhereTheEventHasFired) {
  const auto event = device->record();
  ASSERT_TRUE(event->wait(kLong));
  bool ran = false;
  event->then([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST_P(DeviceConformance, ServesManyThreads) {
  std::atomic<int> ran = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) device->record()->then([&] { ++ran; });
      });
    }
  }
  ASSERT_TRUE(device->record()->wait(kLong));
  EXPECT_TRUE(soon([&] { return ran == 200; })) << ran;
}

TEST_P(DeviceConformance, IsDoneWithEverythingWhenItsDestructionEnds) {
  std::atomic<int> ran = 0;
  for (int i = 0; i < 5; ++i) device->record()->then([&] { ++ran; });
  device.reset();
  EXPECT_EQ(ran, 5);
}

TEST_P(DeviceConformance, MayBeLetGoByAnActionOfItsOwn) {
  std::atomic<bool> ran = false;
  device->record()->then([kept = device, &ran] { ran = true; });
  device.reset();
  EXPECT_TRUE(soon([&] { return ran.load(); }));
}

TEST_P(DeviceConformance, AnEventMayOutliveItsDevice) {
  const auto event = device->record();
  device.reset();
  EXPECT_TRUE(event->wait(kLong));
}

// ── memory ───────────────────────────────────────────────────────────────────────────────────────────────────────

TEST_P(DeviceConformance, RegistersMemoryOnceAndUnregistersIt) {
  const Pages memory(4 * 4096);
  EXPECT_THROW(device->register_memory(memory.data(), 0), Error);
  EXPECT_THROW(device->register_memory(nullptr, 4096), Error);
  for (int round = 0; round < 3; ++round) {
    device->register_memory(memory.data() + 4096, 8192);
    EXPECT_THROW(device->register_memory(memory.data() + 4096, 8192), Error);
    EXPECT_THROW(device->register_memory(memory.data(), 8192), Error) << "overlaps from below";
    EXPECT_THROW(device->register_memory(memory.data() + 8192, 4096), Error) << "overlaps from within";
    device->register_memory(memory.data() + 3 * 4096, 4096);  // touches, does not overlap
    device->unregister_memory(memory.data() + 3 * 4096);
    device->unregister_memory(memory.data() + 4096);
    device->unregister_memory(memory.data() + 4096);  // does nothing
  }
}

TEST_P(DeviceConformance, RegistersTheSameMemoryAThousandTimesInTurn) {
  const Pages memory(2 * 4096);
  for (int round = 0; round < 1000; ++round) {
    ASSERT_NO_THROW(device->register_memory(memory.data(), memory.size())) << "round " << round;
    device->unregister_memory(memory.data());
  }
}

TEST_P(DeviceConformance, GivesAlignedMemoryAndNoneOfZeroBytes) {
  EXPECT_THROW((void)device->allocate(0), Error);
  std::vector<std::shared_ptr<std::byte>> blocks;
  for (const std::size_t bytes : {1U, 100U, 4097U}) blocks.push_back(device->allocate(bytes));
  for (const auto& block : blocks) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % 256, 0U);
  const auto kept = blocks.front();
  device.reset();  // memory may outlive its device
}

// ── copies ───────────────────────────────────────────────────────────────────────────────────────────────────────

TEST_P(DeviceConformance, HasCopiedEverythingOnceTheEventFired) {
  const Pages from(kBytes);
  device->register_memory(from.data(), from.size());
  for (unsigned round = 0; round < 20; ++round) {
    from.fill(round);
    const auto there = device->allocate(kBytes);
    copy(*device, there.get(), from.data(), kBytes);
    ASSERT_TRUE(device->record()->wait(kLong));
    from.fill(99);  // too late to be seen
    const auto seen = read(*device, there.get(), kBytes);
    ASSERT_EQ(Pages::wrong(seen.data(), kBytes, round), kBytes) << "round " << round;
  }
  device->unregister_memory(from.data());
}

TEST_P(DeviceConformance, HasReadUnregisteredMemoryWhenTheCopyReturns) {
  const Pages from(kBytes);
  for (unsigned round = 0; round < 20; ++round) {
    from.fill(round);
    const auto there = device->allocate(kBytes);
    copy(*device, there.get(), from.data(), kBytes);
    from.fill(99);
    const auto seen = read(*device, there.get(), kBytes);
    ASSERT_EQ(Pages::wrong(seen.data(), kBytes, round), kBytes) << "round " << round;
  }
}

TEST_P(DeviceConformance, CopiesSeveralPiecesAtOnceAndNothingElse) {
  const Pages from(kBytes);
  from.fill(3);
  for (const bool registered : {true, false}) {
    if (registered) device->register_memory(from.data(), from.size());
    const auto there = device->allocate(kBytes);
    const std::vector<std::byte> blank(kBytes, std::byte{0xee});
    copy(*device, there.get(), blank.data(), kBytes);
    const std::array<CopyPiece, 4> pieces{{{there.get(), from.data(), 64},
                                           {there.get() + 4096, from.data() + 4096, 1},
                                           {there.get() + 100, from.data() + 100, 0},
                                           {there.get() + 8192, from.data() + 8192, 4096}}};
    device->copy(pieces);
    device->copy({});
    const auto seen = read(*device, there.get(), kBytes);
    for (std::size_t i = 0; i < kBytes; ++i) {
      const bool copied = i < 64 || i == 4096 || i >= 8192;
      ASSERT_EQ(seen[i], copied ? from.data()[i] : std::byte{0xee}) << i;
    }
    if (registered) device->unregister_memory(from.data());
  }
}

TEST_P(DeviceConformance, CopiesBetweenItsOwnMemory) {
  const Pages from(kBytes);
  from.fill(5);
  const auto first = device->allocate(kBytes);
  const auto second = device->allocate(kBytes);
  copy(*device, first.get(), from.data(), kBytes);
  copy(*device, second.get(), first.get(), kBytes);
  const auto seen = read(*device, second.get(), kBytes);
  EXPECT_EQ(Pages::wrong(seen.data(), kBytes, 5), kBytes);
}

TEST_P(DeviceConformance, FinishesImagesAfterTheCopyOfTheirPixels) {
  constexpr std::uint64_t kImages = 3;
  constexpr std::uint64_t kPixels = 1000;
  std::vector<std::byte> pixels(kImages * kPixels * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::byte>(i * 7 + i / 256);
  std::vector<std::uint32_t> table(768);
  for (std::uint32_t i = 0; i < 768; ++i) table[i] = i * 0x01010101U + 17;
  const auto there = device->allocate(pixels.size());
  const auto numbers = device->allocate(table.size() * 4);
  copy(*device, numbers.get(), reinterpret_cast<const std::byte*>(table.data()), table.size() * 4);
  for (const std::uint32_t element : {1U, 2U, 4U}) {
    for (const bool planar : {false, true}) {
      const std::size_t bytes = pixels.size() * element;
      const auto finished = device->allocate(bytes);
      FinishWork work{finished.get(), there.get(), numbers.get(), 0, kPixels, element, planar};
      device->finish(work);  // of nothing: makes ready
      work.images = kImages;
      copy(*device, there.get(), pixels.data(), pixels.size());
      device->finish(work);
      const auto seen = read(*device, finished.get(), bytes);
      for (std::size_t at = 0; at < pixels.size(); ++at) {
        const std::size_t channel = at % 3;
        const std::size_t pixel = at / 3 % kPixels;
        const std::size_t image = at / 3 / kPixels;
        const std::size_t place = image * 3 * kPixels + (planar ? channel * kPixels + pixel : 3 * pixel + channel);
        const std::uint32_t bits = table[256 * channel + static_cast<std::size_t>(pixels[at])];
        ASSERT_EQ(std::memcmp(seen.data() + place * element, &bits, element), 0)
            << "element " << at << " of " << element << " bytes, planar " << planar;
      }
    }
  }
}

// ── the order between streams ────────────────────────────────────────────────────────────────────────────────────

TEST_P(DeviceConformance, AnotherStreamThatWaitsForTheEventSeesTheCopy) {
  const auto user = another();
  const Pages from(kBytes);
  device->register_memory(from.data(), from.size());
  const auto there = device->allocate(kBytes);
  for (unsigned round = 0; round < 20; ++round) {
    from.fill(round);
    copy(*device, there.get(), from.data(), kBytes);
    const auto copied = device->record();
    device->order(user->own_stream(), *copied, kLong);
    const auto seen = read(*user, there.get(), kBytes);
    ASSERT_EQ(Pages::wrong(seen.data(), kBytes, round), kBytes) << "round " << round;
    ASSERT_TRUE(copied->wait(kLong));
  }
  device->unregister_memory(from.data());
}

TEST_P(DeviceConformance, ItsOwnStreamWaitsForTheMarkOfAnother) {
  const auto user = another();
  const auto there = device->allocate(kBytes);
  const auto kept = device->allocate(kBytes);
  const Pages first(kBytes);
  const Pages second(kBytes);
  first.fill(1);
  second.fill(2);
  device->register_memory(second.data(), second.size());
  for (int round = 0; round < 20; ++round) {
    copy(*user, there.get(), first.data(), kBytes);
    copy(*user, kept.get(), there.get(), kBytes);  // the user reads what the next copy would overwrite
    device->order(device->own_stream(), *device->mark(user->own_stream()), kLong);
    copy(*device, there.get(), second.data(), kBytes);
    const auto seen = read(*user, kept.get(), kBytes);
    ASSERT_EQ(Pages::wrong(seen.data(), kBytes, 1), kBytes) << "round " << round;
    const auto last = read(*device, there.get(), kBytes);
    ASSERT_EQ(Pages::wrong(last.data(), kBytes, 2), kBytes) << "round " << round;
  }
  device->unregister_memory(second.data());
}

TEST_P(DeviceConformance, OrdersTheDefaultStreamToo) {
  device->order(device->own_stream(), *device->mark(nullptr), kLong);
  const auto event = device->record();
  device->order(nullptr, *event, kLong);
  EXPECT_TRUE(event->wait(kLong));
}

TEST_P(DeviceConformance, RefusesAMarkOfAnotherKindOfDevice) {
  class Strange : public Mark {};
  EXPECT_THROW(device->order(device->own_stream(), Strange(), kLong), Error);
}

}  // namespace
}  // namespace feedring::test
