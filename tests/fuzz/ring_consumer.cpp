// SPDX-License-Identifier: Apache-2.0
// A rank on a ring whose words somebody scribbles over between its calls, while others follow the law. It may get
// errors and wrong pixels; it never leaves the memory and never waits without an end.
#include <unistd.h>

#include <feedring/device.hpp>
#include <feedring/error.hpp>
#include <numeric>
#include <optional>

#include "consumers/feed_owner.hpp"
#include "runtime/process.hpp"
#include "runtime/ring_segment.hpp"
#include "tests/support/fuzz_input.hpp"

namespace feedring {
namespace {

using PoolHeader = contract::PoolHeader<std::atomic>;
constexpr std::uint32_t kSlots = 3, kTasks = 2, kRows = 4, kSamples = 23;

class Scene {
 public:
  Scene() {
    const auto shape = lay_out_ring(kSlots, kTasks, kRows, image_feed_tensors(2, 2, Dtype::kUint8, Layout::kNhwc));
    ring_fd_ = create_memfd("ring", shape.bytes);
    pool_fd_ = create_memfd("pool", sizeof(PoolHeader));
    for (const int fd : {ring_fd_.get(), pool_fd_.get()}) seal_size(fd);
    ring_map_ = Mapping(ring_fd_.get(), Mapping::Access::kReadWrite);
    pool_map_ = Mapping(pool_fd_.get(), Mapping::Access::kReadWrite);
    create_ring(ring_map_.data(), shape);
    ring_ = Ring<>(ring_map_.data(), shape);
    auto& pool = *reinterpret_cast<PoolHeader*>(pool_map_.data());
    pool.magic = contract::kPoolMagic;
    pool.bytes = sizeof(PoolHeader);
    pool.stamp.store(contract::fingerprint());
  }

  /// The next process of the rank; the one before is gone.
  void attach() {
    batch_.reset();
    owner_.reset();
    FeedInfo info;
    info.name = "train";
    info.batch_size = kRows;
    info.slots = kSlots;
    info.samples = kSamples;
    info.remainder = Remainder::kPad;
    info.error_budget = 0.5;
    info.launch.world = 1;
    owner_.emplace(
        Attachment{info, UniqueFd(::dup(ring_fd_.get())), UniqueFd(::dup(pool_fd_.get())), open_pidfd(::getpid())},
        host_device(), std::chrono::milliseconds(0));
  }

  /// One word, anywhere, or one of those that the rank itself looks at most.
  void scribble(test::FuzzInput& input) {
    const auto where = input.take<std::uint16_t>();
    const auto value = input.take<std::uint64_t>();
    std::byte* at = nullptr;
    const auto words = [&](std::uint64_t begin, std::uint64_t end) { return begin + where * 8U % (end - begin); };
    const contract::RingShape& shape = ring_.shape();
    switch (input.below(4)) {
      case 0: at = ring_map_.data() + words(0, ring_map_.size()); break;
      case 1: at = ring_map_.data() + words(shape.slots_offset, shape.payload_offset); break;
      case 2: at = pool_map_.data() + words(0, pool_map_.size()); break;
      default: {
        // A slot word that differs little from what is there.
        const std::uint32_t slot = where % kSlots;
        at = ring_map_.data() + shape.slots_offset + slot * sizeof(contract::SlotControl<std::atomic>);
        std::uint64_t word = ring_.slot(slot).pack() ^ (std::uint64_t{1} << (value % 64));
        std::memcpy(at, &word, sizeof word);
        return;
      }
    }
    std::memcpy(at, &value, sizeof value);
  }

  /// What producers do that follow the law.
  void produce(std::uint8_t status) {
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      const contract::SlotWord word = ring_.slot(slot);
      if (word.phase != contract::Phase::kOffered) continue;
      for (std::uint32_t task = 0; task < kTasks; ++task) {
        if (!ring_.claim(slot, task, 1, word)) continue;
        const auto [begin, end] = contract::rows_of_task(task, kTasks, kRows);
        std::memset(ring_.payload(slot) + find_tensor(ring_.shape(), "status")->offset + begin, status, end - begin);
        ring_.finish(slot, task, word.turn);
      }
    }
  }

  void next() {
    batch_ = owner_->next(std::chrono::milliseconds(0));
    if (!batch_) return;
    std::uint64_t sum = 0;
    for (const std::string_view name : batch_->names()) {
      const auto bytes = batch_->tensor(name).as<std::uint8_t>();
      sum += std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
    }
    test::fuzz_require(sum < 1U << 24 && batch_->valid_rows() <= kRows);
  }

  void act(test::FuzzInput& input) {
    const std::uint32_t what = input.below(10);
    if (what <= 2) return scribble(input);
    if (what == 3) return produce(input.take<std::uint8_t>());
    if (what == 4) return attach();
    if (!owner_) return;
    switch (what) {
      case 5: owner_->seek(input.take<std::uint16_t>(), input.below(6)); break;
      case 6: owner_->set_epoch(input.below(4)); break;
      case 7: owner_->start_epoch(); break;
      case 8: batch_.reset(); break;
      default: next();
    }
    (void)owner_->stats();
  }

 private:
  UniqueFd ring_fd_;
  UniqueFd pool_fd_;
  Mapping ring_map_;
  Mapping pool_map_;
  Ring<> ring_;
  std::optional<FeedOwner> owner_;
  std::optional<Batch> batch_;
};

}  // namespace
}  // namespace feedring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  Scene scene;
  test::FuzzInput input(data, size);
  for (int actions = 0; actions < 200 && !input.empty(); ++actions) {
    try {
      scene.act(input);
    } catch (const Error& error) {
      test::fuzz_require(error.what()[0] != '\0');
    }
  }
  return 0;
}
