// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <feedring/error.hpp>

#include "tests/device/device_conformance.hpp"
#include "tests/support/child.hpp"

namespace feedring {
namespace {

using std::chrono::milliseconds;
using test::kLong;
using test::Pages;
using testing::HasSubstr;

void copy(Device& on, std::byte* to, const Pages& from) {
  const CopyPiece piece{to, from.data(), from.size()};
  on.copy({&piece, 1});
}
ErrorKind kind_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::kUsage;
}

TEST(HostDevice, IsDoneAtOnceWithoutADelay) { EXPECT_TRUE(host_device()->record()->fired()); }

TEST(HostDevice, IsNotDoneBeforeItsDelay) {
  const auto device = host_device({.delay = milliseconds(50)});
  const auto before = std::chrono::steady_clock::now();
  const auto event = device->record();
  EXPECT_FALSE(event->wait(milliseconds(1)));
  EXPECT_TRUE(event->wait(kLong));
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(50));
}

TEST(HostDevice, ReadsRegisteredMemoryLateAsARealDeviceDoes) {
  const auto device = host_device({.delay = milliseconds(50), .copies = true});
  const Pages from(4096);
  device->register_memory(from.data(), from.size());
  const auto there = device->allocate(4096);
  from.fill(1);
  copy(*device, there.get(), from);
  from.fill(2);
  ASSERT_TRUE(device->record()->wait(kLong));
  EXPECT_EQ(Pages::wrong(there.get(), 4096, 2), 4096U);
}

TEST(HostDevice, ALostEventNeverFiresAndItsActionNeverRuns) {
  const auto device = host_device({.delay = milliseconds(1), .lose_every = 2});
  const auto kept = std::make_shared<int>(0);
  const auto first = device->record();
  auto second = device->record();
  second->then([kept] { ++*kept; });
  const auto third = device->record();
  EXPECT_TRUE(third->wait(kLong));
  EXPECT_TRUE(first->fired());
  EXPECT_FALSE(second->fired());
  second.reset();
  EXPECT_EQ(*kept, 0);
  EXPECT_EQ(kept.use_count(), 1) << "what the action held is let go";
}

TEST(HostDevice, NothingBehindAFailedCopyHappens) {
  const auto device = host_device({.delay = milliseconds(5), .copies = true, .fail_copy = 2});
  const Pages from(4096);
  const auto there = device->allocate(4096);
  std::fill_n(there.get(), 4096, std::byte{0});
  from.fill(1);
  copy(*device, there.get(), from);
  const auto good = device->record();
  from.fill(2);
  copy(*device, there.get(), from);
  const auto bad = device->record();
  bool ran = false;
  bad->then([&] { ran = true; });
  EXPECT_TRUE(good->wait(kLong));
  EXPECT_TRUE(test::soon([&] { return !device->failure().empty(); }));
  EXPECT_FALSE(bad->wait(kLong)) << "ends at once: it cannot fire any more";
  EXPECT_FALSE(ran);
  EXPECT_EQ(Pages::wrong(there.get(), 4096, 1), 4096U) << "the copy before was done, the failed one not";
  EXPECT_EQ(kind_of([&] { copy(*device, there.get(), from); }), ErrorKind::kInternal);
  EXPECT_EQ(kind_of([&] { (void)device->record(); }), ErrorKind::kInternal);
  EXPECT_EQ(kind_of([&] { device->order(nullptr, *bad, kLong); }), ErrorKind::kInternal);
}

TEST(HostDevice, TheCallingThreadWaitsForTheEventAndNotForEver) {
  const auto device = host_device({.delay = milliseconds(30), .lose_every = 2});
  const auto event = device->record();
  device->order(nullptr, *event, kLong);
  EXPECT_TRUE(event->fired());
  const auto lost = device->record();
  EXPECT_EQ(kind_of([&] { device->order(nullptr, *lost, milliseconds(20)); }), ErrorKind::kDeadline);
}

TEST(HostDevice, RefusesRegistrationBeyondItsLimitAndGoesOn) {
  const auto device = host_device({.copies = true, .registration_limit = 8192});
  const Pages small(8192);
  const Pages large(12288);
  EXPECT_EQ(kind_of([&] { device->register_memory(large.data(), large.size()); }), ErrorKind::kRefused);
  device->register_memory(small.data(), small.size());
  EXPECT_EQ(kind_of([&] { device->register_memory(large.data(), 4096); }), ErrorKind::kRefused) << "the sum counts";
  device->unregister_memory(small.data());
  device->register_memory(large.data(), 4096);
  const auto none = host_device({.copies = true, .registration_limit = 0});
  EXPECT_EQ(kind_of([&] { none->register_memory(small.data(), small.size()); }), ErrorKind::kRefused);
}

TEST(HostDevice, MayBeDestroyedInAForkedChild) {
  auto device = host_device({.delay = milliseconds(5)});
  const auto event = device->record();
  test::Child child([&] {
    device.reset();
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(event->wait(kLong));
}

}  // namespace
}  // namespace feedring
