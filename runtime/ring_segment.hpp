// SPDX-License-Identifier: Apache-2.0
// The memory of a ring: how large it must be for a feed's tensors, how it is made, how a peer attaches to it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/contract.hpp"
#include "runtime/layout.hpp"
#include "runtime/memfd.hpp"
#include "runtime/ring.hpp"

namespace feedring {

/// A named tensor of a slot: `shape` without the rows, which come first.
struct TensorSpec {
  std::string_view name;
  Dtype dtype;
  std::vector<std::uint64_t> shape;    ///< of one row; at most 4 numbers
  std::vector<std::uint64_t> strides;  ///< of one row, in elements; empty: contiguous
};

/// Lays out a ring, each of whose rows has `parts` parts. Every tensor starts on a cache line, every slot's payload on
/// a page. Throws Error(kUsage) where a number is outside the contract, a name is empty, too long or taken, or strides
/// lead out of a row.
[[nodiscard]] contract::RingShape lay_out_ring(std::uint32_t slots, std::uint32_t tasks, std::uint32_t rows,
                                               const std::vector<TensorSpec>& tensors, std::uint32_t parts = 1);

/// A tensor of pictures: (3, height, width) a row, or (count, 3, height, width) where a row has several.
[[nodiscard]] TensorSpec picture_tensor(std::string_view name, std::optional<std::uint32_t> count, std::uint32_t height,
                                        std::uint32_t width, Dtype dtype, Layout layout);

/// The tensors of a feed of files: what is in them, labels, sample_ids, valid, status.
[[nodiscard]] std::vector<TensorSpec> file_feed_tensors(std::vector<TensorSpec> content);
/// The same for one picture a sample: images, labels, sample_ids, valid, status.
[[nodiscard]] std::vector<TensorSpec> image_feed_tensors(std::uint32_t height, std::uint32_t width, Dtype dtype,
                                                         Layout layout);

/// Writes header and stamp into fresh (all zero) memory of shape.bytes.
void create_ring(std::byte* base, const contract::RingShape& shape) noexcept;

/// A copy of the shape in `memory`, after every number in it was checked against the contract, the size of the mapping
/// and the place where lay_out_ring() would put each tensor: whoever follows the copy stays inside of the mapping and
/// no tensor lies in another. Throws Error(kRefused) with what was wanted and what was found.
[[nodiscard]] contract::RingShape read_ring_shape(std::span<const std::byte> memory);

/// The tensor's entry, or nullptr.
[[nodiscard]] const contract::TensorEntry* find_tensor(const contract::RingShape& shape,
                                                       std::string_view name) noexcept;

}  // namespace feedring
