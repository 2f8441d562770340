// SPDX-License-Identifier: Apache-2.0
// A feed whose batches go to a device, and a program that reads them there on a stream of its own.
#pragma once

#include <cstring>
#include <feedring/feed.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/device/kinds.hpp"
#include "tests/support/test_pool.hpp"

namespace feedring::test {

/// What a program does with a batch on its stream: copies it away, and looks at the copy once that is done.
class FarSide {
 public:
  explicit FarSide(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] StreamHandle stream() const { return device_->own_stream(); }

  struct Copy {
    std::vector<std::byte> images, labels;
    std::shared_ptr<Event> done;
    std::uint64_t epoch = 0, first = 0;
    std::uint32_t valid = 0, rows = 0;
  };
  /// Submits only. On memory that is not pinned a real device ends the copy within the call.
  [[nodiscard]] std::unique_ptr<Copy> submit(const Batch& batch) const {
    auto copy = std::make_unique<Copy>();
    const TensorView images = batch.images();
    const TensorView labels = batch.tensor("labels");
    copy->images.resize(images.bytes);
    copy->labels.resize(labels.bytes);
    const CopyPiece pieces[] = {{copy->images.data(), static_cast<const std::byte*>(images.data), images.bytes},
                                {copy->labels.data(), static_cast<const std::byte*>(labels.data), labels.bytes}};
    device_->copy(pieces);
    copy->done = device_->record();
    copy->epoch = batch.epoch();
    copy->first = batch.first_ordinal();
    copy->valid = batch.valid_rows();
    copy->rows = batch.rows();
    return copy;
  }
  /// Empty where every byte is what the plan says.
  [[nodiscard]] static std::string wrong_in(const Copy& copy, const PoolSetting& setting) {
    if (!copy.done->wait(kLong)) return "the program's own copy did not end";
    const std::size_t row_bytes = copy.images.size() / copy.rows;
    for (std::uint32_t row = 0; row < copy.rows; ++row) {
      const std::uint64_t ordinal = ordinal_of_row({copy.first, copy.valid}, row, setting.samples);
      const std::string where = "row " + std::to_string(row) + " from ordinal " + std::to_string(copy.first) +
                                " of epoch " + std::to_string(copy.epoch);
      for (std::size_t i = 0; i < row_bytes; ++i) {
        const auto seen = static_cast<std::uint8_t>(copy.images[row * row_bytes + i]);
        if (seen != pattern(setting.seed, copy.epoch, ordinal)) return where + ": pixels";
      }
      std::int64_t label = 0;
      std::memcpy(&label, copy.labels.data() + row * sizeof label, sizeof label);
      if (label != static_cast<std::int64_t>(ordinal % 7)) return where + ": label";
    }
    return {};
  }
  [[nodiscard]] std::string wrong_in(const Batch& batch, const PoolSetting& setting) const {
    return wrong_in(*submit(batch), setting);
  }

 private:
  std::shared_ptr<Device> device_;
};

class DeviceFeed : public testing::TestWithParam<MakeDevice> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().why_not(); !why.empty()) GTEST_SKIP() << why;
  }
  [[nodiscard]] static FeedOptions options(const TestPool& pool, std::shared_ptr<Device> device,
                                           const FarSide& program) {
    FeedOptions options = pool.options();
    options.device = std::move(device);
    options.stream = [stream = program.stream()] { return stream; };
    return options;
  }
};

}  // namespace feedring::test
