// SPDX-License-Identifier: Apache-2.0
// What a device makes of the images of a batch where the ring holds 8 bit pixels: which tensors, where they then lie,
// and that images which are zeros in the slot, because a sample failed or an episode has fewer, are zeros afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <feedring/device.hpp>
#include <string>
#include <vector>

#include "consumers/feed_info.hpp"
#include "runtime/contract.hpp"

namespace feedring {

class Finishing {
 public:
  /// Of a ring of this shape, as the pool says. `what` begins errors. Throws Error(kRefused) where the pool's tensors
  /// are no 8 bit interleaved RGB, or are not there.
  Finishing(const std::string& what, const contract::RingShape& shape, const FinishInfo& info);

  /// The images as they are afterwards, in a buffer that begins with the payload of a slot.
  [[nodiscard]] const std::vector<contract::TensorEntry>& finished() const noexcept { return finished_; }
  /// Of such a buffer.
  [[nodiscard]] std::uint64_t buffer_bytes() const noexcept { return buffer_bytes_; }
  /// What the device reads beside the buffer, copied there once.
  [[nodiscard]] const std::vector<std::byte>& constants() const noexcept { return constants_; }

  /// Makes ready, with no image. Throws Error(kRefused) where the device cannot.
  void prepare(Device& device) const;
  /// Puts on the device's stream what makes the batch in `buffer`, on the device, of its own first part. `payload`: the
  /// slot, which the CPU reads; `constants`: on the device.
  void run(Device& device, const std::byte* payload, std::byte* buffer, const std::byte* constants) const;

 private:
  struct Images {
    FinishWork work;          ///< without addresses
    std::uint64_t from = 0;   ///< where in the payload they lie,
    std::uint64_t to = 0;     ///< and in the buffer, once finished
    std::uint64_t flags = 0;  ///< where in the payload a byte for each of them lies,
    bool mask = false;        ///< 0 for those that are zeros; else its status
    [[nodiscard]] std::uint64_t bytes() const noexcept { return 3 * work.pixels * work.element_bytes; }
  };
  [[nodiscard]] static bool is_zeros(const Images& images, std::byte flag) noexcept;

  std::vector<Images> images_;
  std::vector<contract::TensorEntry> finished_;
  std::vector<std::byte> constants_;
  std::uint64_t buffer_bytes_ = 0;
};

}  // namespace feedring
