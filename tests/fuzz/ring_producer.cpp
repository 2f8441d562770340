// SPDX-License-Identifier: Apache-2.0
// A producer's work loop on a ring whose words and tickets somebody scribbles over between two looks of it. It writes
// into the rows of the tasks that it claimed and nowhere else in the payload, whatever the words say.
#include <spdlog/spdlog.h>

#include <feedring/error.hpp>
#include <memory>

#include "producers/pool/node_feed.hpp"
#include "producers/pool/worker.hpp"
#include "runtime/ring_segment.hpp"
#include "tests/support/fuzz_input.hpp"

namespace feedring {
namespace {

using PoolHeader = contract::PoolHeader<std::atomic>;
constexpr std::uint32_t kSlots = 2, kTasks = 2, kRows = 3, kSide = 8;

class Scene {
 public:
  Scene() {
    spdlog::set_level(spdlog::level::off);
    Config config = config_for_folder(test::fuzz_pictures(), kSide);
    config.feeds[0].batch_size = kRows;
    config.feeds[0].on_error = OnError::kReplace;
    config.feeds[0].max_pixels = 40'000;
    const std::vector<NodeFeed> feeds = open_feeds(config);
    feed_ = std::make_shared<FeedContext>(0, feeds[0].spec, feeds[0].index_fd.get());
    shape_ = lay_out_ring(kSlots, kTasks, kRows, image_feed_tensors(kSide, kSide, Dtype::kUint8, Layout::kNhwc));
    const UniqueFd fd = create_memfd("ring", shape_.bytes);
    seal_size(fd.get());
    mapping_ = std::make_shared<Mapping>(fd.get(), Mapping::Access::kReadWrite);
    ring_ = Ring<>(mapping_->data(), shape_);
    worker_.emplace(WorkerIdentity{1, 0, 1}, *pool_, [](const Failure&) {});
    worker_->add_ring({feed_, mapping_, shape_});
  }

  void clear() {
    std::memset(mapping_->data(), 0, mapping_->size());
    create_ring(mapping_->data(), shape_);
    std::memset(reinterpret_cast<std::byte*>(&pool_->suspects), 0, sizeof(PoolHeader) - offsetof(PoolHeader, suspects));
  }

  void act(test::FuzzInput& input) {
    const std::uint32_t slot = input.below(kSlots);
    switch (input.below(8)) {
      case 0: scribble(input, 0, shape_.payload_offset); break;
      case 1: scribble(input, shape_.slots_offset, shape_.payload_offset); break;
      case 2: {
        Want want{input.take<std::uint8_t>(), 0, 0, input.below(3), input.below(16), input.below(kRows + 2), kRows};
        if (input.below(8) == 0) want.first = input.take<std::uint64_t>();
        ring_.offer(slot, want);
        break;
      }
      case 3: ring_.raise_plan(input.below(4)); break;
      case 4: reattach(); break;
      case 5: ring_.release(slot); break;
      default: (void)worker_->step();
    }
    for (std::uint64_t at = shape_.payload_offset + used(); at < shape_.payload_offset + shape_.payload_stride; ++at) {
      test::fuzz_require(mapping_->data()[at] == std::byte{0});
    }
  }

 private:
  [[nodiscard]] std::uint64_t used() const {
    const contract::TensorEntry& last = shape_.tensor[shape_.tensors - 1];
    return last.offset + kRows * last.row_bytes;
  }
  void scribble(test::FuzzInput& input, std::uint64_t begin, std::uint64_t end) {
    const auto where = input.take<std::uint16_t>();
    const auto value = input.take<std::uint64_t>();
    std::memcpy(mapping_->data() + begin + where * 8U % (end - begin), &value, sizeof value);
  }
  /// A producer that starts later is handed the ring as it lies there by then.
  void reattach() {
    try {
      const contract::RingShape found = read_ring_shape(mapping_->bytes());
      feed_->demand_fits(found);
      const contract::TensorEntry* images = find_tensor(found, "images");
      test::fuzz_require(images != nullptr && images->row_bytes == kSide * kSide * 3 &&
                         find_tensor(found, "status") != nullptr);
    } catch (const Error& error) {
      test::fuzz_require(error.kind() == ErrorKind::kRefused);
    }
  }

  std::shared_ptr<FeedContext> feed_;
  contract::RingShape shape_{};
  std::shared_ptr<Mapping> mapping_;
  Ring<> ring_;
  std::unique_ptr<PoolHeader> pool_ = std::make_unique<PoolHeader>();
  std::optional<Worker> worker_;
};

}  // namespace
}  // namespace feedring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  static Scene scene;
  scene.clear();
  test::FuzzInput input(data, size);
  for (int actions = 0; actions < 100 && !input.empty(); ++actions) scene.act(input);
  return 0;
}
