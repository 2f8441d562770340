// SPDX-License-Identifier: Apache-2.0
// One batch: named tensors in a slot of the rank's ring, without a copy, or in memory of a device. Whoever holds the
// batch, or a view made from its lease, keeps slot or memory; the last one to go gives it back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <feedring/device.hpp>
#include <feedring/dtype.hpp>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace feedring {

/// Where a tensor of a batch lies. Valid for as long as the batch or its lease lives. Images are (B, 3, H, W), whatever
/// the layout of the bytes: for NHWC the strides are channels_last.
struct TensorView {
  void* data = nullptr;  ///< a multiple of 64; read it, never write: the slot may be read by a device too
  DeviceTag device;      ///< where it lies; on a device it is filled for work on the feed's stream (docs/device.md)
  Dtype dtype = Dtype::kUint8;
  std::uint32_t dimensions = 0;         ///< 1 to 5
  std::array<std::int64_t, 5> sizes{};  ///< `dimensions` of them count, sizes[0] is the rows
  std::array<std::int64_t, 5> steps{};  ///< from element to element along each dimension, in elements
  std::uint64_t bytes = 0;              ///< of the whole tensor

  [[nodiscard]] std::span<const std::int64_t> shape() const noexcept { return {sizes.data(), dimensions}; }
  [[nodiscard]] std::span<const std::int64_t> strides() const noexcept { return {steps.data(), dimensions}; }
  /// The elements in the order of memory, for the CPU: none where it lies elsewhere. The caller names the type that
  /// `dtype` says.
  template <class T>
  [[nodiscard]] std::span<const T> as() const noexcept {
    if (device.type != DeviceType::kCpu) return {};
    return {static_cast<const T*>(data), bytes / sizeof(T)};
  }
};

struct BatchContent;  // consumers/batch_content.hpp
namespace contract {
struct TensorEntry;  // runtime/contract.hpp
}

/// Move-only. Any thread may use and destroy it, one at a time; it may outlive its Feed.
/// All readers throw Error(kUsage) after release() or a move, and Error(kForked) in a forked child.
class Batch {
 public:
  explicit Batch(std::shared_ptr<const BatchContent> content) noexcept;
  Batch(Batch&&) noexcept = default;
  Batch& operator=(Batch&&) noexcept = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() = default;

  /// The tensor of that name. Throws Error(kUsage), listing the names, where there is none.
  [[nodiscard]] TensorView tensor(std::string_view name) const;
  /// Names of all tensors, in the order of memory.
  [[nodiscard]] std::vector<std::string_view> names() const;

  [[nodiscard]] TensorView images() const { return tensor("images"); }
  // These three are for the CPU also where the batch lies on a device; tensor() of the same names is on the device.
  /// Class numbers, as torchvision's ImageFolder counts them.
  [[nodiscard]] std::span<const std::int64_t> labels() const;
  /// Index of each row's sample in the data set.
  [[nodiscard]] std::span<const std::int64_t> sample_ids() const;
  /// 1 where the row counts; 0 for repeats that fill up a short last step and for failed samples that became zeros.
  [[nodiscard]] std::span<const std::uint8_t> valid() const;

  [[nodiscard]] std::uint64_t epoch() const;
  /// Step within the epoch, from 0.
  [[nodiscard]] std::uint64_t step() const;
  /// Position of row 0 in the global order of the epoch; row r < valid_rows() is first_ordinal() + r.
  [[nodiscard]] std::uint64_t first_ordinal() const;
  /// Rows of this rank's share of the step; the rest of rows() are repeats.
  [[nodiscard]] std::uint32_t valid_rows() const;
  /// Rows of every tensor: the feed's batch size.
  [[nodiscard]] std::uint32_t rows() const;

  /// Says that work on a further stream of the device will use this batch: that stream is made to wait for the copy,
  /// and the memory is not used again before what was put there by the end of the batch. Nothing to do for the stream
  /// of FeedOptions::stream, nor where the batch lies in the slot. The stream must live until the end of the batch.
  /// Throws Error as Device::order() does.
  void use_on(StreamHandle stream) const;

  /// What keeps the slot: a copy of it keeps the tensors where they are after the batch is gone.
  [[nodiscard]] std::shared_ptr<const void> lease() const;
  /// Lets go of the slot now, as destruction does.
  void release() noexcept { content_.reset(); }
  /// False after release() and after a move.
  explicit operator bool() const noexcept { return content_ != nullptr; }

 private:
  [[nodiscard]] const BatchContent& content() const;
  [[nodiscard]] const contract::TensorEntry& entry_of(std::string_view name) const;

  std::shared_ptr<const BatchContent> content_;
};

}  // namespace feedring
