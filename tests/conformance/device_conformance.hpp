// SPDX-License-Identifier: Apache-2.0
// What every Device must keep, whatever it drives. Instantiate with a function that makes one.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <feedring/device.hpp>
#include <feedring/error.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace feedring::test {

using MakeDevice = std::function<std::shared_ptr<Device>()>;

class DeviceConformance : public testing::TestWithParam<MakeDevice> {
 protected:
  static constexpr std::chrono::seconds kLong{20};
  std::shared_ptr<Device> device = GetParam()();
};

TEST_P(DeviceConformance, HasAName) { EXPECT_FALSE(device->name().empty()); }

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
  const auto late = std::chrono::steady_clock::now() + kLong;
  while (ran < 30 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
  EXPECT_EQ(ran, 30);
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
  const auto late = std::chrono::steady_clock::now() + kLong;
  while (ran < 200 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
  EXPECT_EQ(ran, 200);
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
  const auto late = std::chrono::steady_clock::now() + kLong;
  while (!ran && std::chrono::steady_clock::now() < late) std::this_thread::yield();
  EXPECT_TRUE(ran);
}

TEST_P(DeviceConformance, RegistersMemoryOnceAndUnregistersIt) {
  alignas(4096) static std::array<std::byte, 4 * 4096> memory;
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

}  // namespace feedring::test
