// SPDX-License-Identifier: Apache-2.0
// Would anybody notice if a slot went back to the producers before its copy was done? One slot, a copy that is late, a
// pattern in every batch, and all of it compared on the far side.

#include "tests/device/device_feed.hpp"

namespace feedring::test {
namespace {

using std::chrono::microseconds;

/// Batches of which a byte was wrong, among `rounds`.
int wrong_batches(std::shared_ptr<Device> device, const FarSide& program, int rounds) {
  PoolSetting setting;
  setting.slots = 1;
  TestPool pool(setting);
  pool.start();
  FeedOptions options = pool.options();
  options.device = std::move(device);
  options.stream = [&] { return program.stream(); };
  Feed feed = Feed::attach(options);
  int wrong = 0;
  for (int round = 0; round < rounds;) {
    const std::optional<Batch> batch = feed.next();
    if (!batch) continue;
    ++round;
    wrong += program.wrong_in(*batch, setting).empty() ? 0 : 1;
  }
  return wrong;
}

class SlotReuse : public testing::TestWithParam<MakeDevice> {};

TEST_P(SlotReuse, NoByteIsWrongInTenThousandRoundsOfOneSlot) {
  if (const std::string why = GetParam().why_not(); !why.empty()) GTEST_SKIP() << why;
  const FakeCudart stalled(FakeCudart::Settings{{"DELAY_US", "100"}});
  EXPECT_EQ(wrong_batches(GetParam().make(), FarSide(GetParam().make()), 10'000), 0);
}

INSTANTIATE_TEST_SUITE_P(Host, SlotReuse, testing::Values(host_that_copies("random", microseconds(150), 3)));
INSTANTIATE_TEST_SUITE_P(FakeCuda, SlotReuse, testing::Values(fake_cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, SlotReuse, testing::Values(real_cuda()));

// ── the same with the fault that it is there to catch ────────────────────────────────────────────────────────────

/// Takes the end of the submission for the end of the copy: the one mistake that no type prevents.
class HastyDevice final : public Device {
 public:
  explicit HastyDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  class HastyEvent final : public Event {
   public:
    explicit HastyEvent(std::shared_ptr<Event> event) : event_(std::move(event)) {}
    [[nodiscard]] bool fired() const noexcept override { return true; }
    [[nodiscard]] bool wait(std::chrono::nanoseconds) const override { return true; }
    void then(std::function<void()> action) override { action(); }
    [[nodiscard]] const Event& real() const { return *event_; }

   private:
    std::shared_ptr<Event> event_;
  };

  [[nodiscard]] std::string_view name() const noexcept override { return device_->name(); }
  [[nodiscard]] DeviceTag tag() const noexcept override { return device_->tag(); }
  [[nodiscard]] bool copies() const noexcept override { return true; }
  [[nodiscard]] StreamHandle own_stream() const noexcept override { return device_->own_stream(); }
  void register_memory(std::byte* base, std::size_t bytes) override { device_->register_memory(base, bytes); }
  void unregister_memory(std::byte* base) noexcept override {
    (void)device_->record()->wait(kLong);  // so that only the slots are returned too early
    device_->unregister_memory(base);
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    const std::shared_ptr<std::byte> memory = device_->allocate(bytes);
    // Freed only when it is really done: what is to be caught are slots, not a heap that a late copy writes to.
    return {memory.get(), [memory, device = device_](std::byte*) { (void)device->record()->wait(kLong); }};
  }
  void copy(std::span<const CopyPiece> pieces) override { device_->copy(pieces); }
  void finish(const FinishWork& work) override { device_->finish(work); }
  [[nodiscard]] std::shared_ptr<Event> record() override { return std::make_shared<HastyEvent>(device_->record()); }
  [[nodiscard]] std::shared_ptr<const Mark> mark(StreamHandle stream) override { return device_->mark(stream); }
  void order(StreamHandle stream, const Mark& mark, std::chrono::nanoseconds at_most) override {
    const auto* hasty = dynamic_cast<const HastyEvent*>(&mark);
    device_->order(stream, hasty != nullptr ? hasty->real() : mark, at_most);
  }
  [[nodiscard]] std::string failure() const override { return device_->failure(); }

 private:
  std::shared_ptr<Device> device_;
};

class SlotReuseMutant : public testing::TestWithParam<MakeDevice> {};

TEST_P(SlotReuseMutant, AReleaseBeforeTheEventIsSeenOnTheFarSide) {
  const FakeCudart stalled(FakeCudart::Settings{{"DELAY_US", "1000"}});
  const auto hasty = std::make_shared<HastyDevice>(GetParam().make());
  EXPECT_GT(wrong_batches(hasty, FarSide(GetParam().make()), 300), 0);
}

INSTANTIATE_TEST_SUITE_P(Host, SlotReuseMutant, testing::Values(host_that_copies("late", microseconds(1000))));
INSTANTIATE_TEST_SUITE_P(FakeCuda, SlotReuseMutant, testing::Values(fake_cuda()));

}  // namespace
}  // namespace feedring::test
