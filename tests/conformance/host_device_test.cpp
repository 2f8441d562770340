// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "tests/conformance/device_conformance.hpp"
#include "tests/support/child.hpp"

namespace feedring {
namespace {

using std::chrono::milliseconds;
using test::DeviceConformance;
using test::MakeDevice;

INSTANTIATE_TEST_SUITE_P(HostDevice, DeviceConformance, testing::Values(MakeDevice([] { return host_device(); })));
INSTANTIATE_TEST_SUITE_P(DelayedHostDevice, DeviceConformance,
                         testing::Values(MakeDevice([] { return host_device({.delay = milliseconds(3)}); })));

TEST(HostDevice, IsDoneAtOnceWithoutADelay) { EXPECT_TRUE(host_device()->record()->fired()); }

TEST(HostDevice, IsNotDoneBeforeItsDelay) {
  const auto device = host_device({.delay = milliseconds(50)});
  const auto before = std::chrono::steady_clock::now();
  const auto event = device->record();
  EXPECT_FALSE(event->wait(milliseconds(1)));
  EXPECT_TRUE(event->wait(std::chrono::seconds(20)));
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(50));
}

TEST(HostDevice, ALostEventNeverFiresAndItsActionNeverRuns) {
  const auto device = host_device({.delay = milliseconds(1), .lose_every = 2});
  const auto kept = std::make_shared<int>(0);
  const auto first = device->record();
  auto second = device->record();
  second->then([kept] { ++*kept; });
  const auto third = device->record();
  EXPECT_TRUE(third->wait(std::chrono::seconds(20)));
  EXPECT_TRUE(first->fired());
  EXPECT_FALSE(second->fired());
  second.reset();
  EXPECT_EQ(*kept, 0);
  EXPECT_EQ(kept.use_count(), 1) << "what the action held is let go";
}

TEST(HostDevice, MayBeDestroyedInAForkedChild) {
  auto device = host_device({.delay = milliseconds(5)});
  const auto event = device->record();
  test::Child child([&] {
    device.reset();
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(event->wait(std::chrono::seconds(20)));
}

}  // namespace
}  // namespace feedring
