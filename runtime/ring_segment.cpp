// SPDX-License-Identifier: Apache-2.0
#include "runtime/ring_segment.hpp"

#include <fmt/format.h>

#include <cstring>
#include <feedring/error.hpp>

namespace feedring {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

// A size that no node has; keeps the products below from overflowing.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 46;

std::uint64_t control_stride(std::uint32_t tasks) {
  return sizeof(contract::SlotControl<std::atomic>) +
         tasks * (sizeof(contract::TaskLine<std::atomic>) + sizeof(contract::FailureRecord));
}

[[noreturn]] void refuse(const char* what, std::uint64_t want, std::uint64_t got) {
  throw Error(ErrorKind::kRefused, fmt::format("a ring cannot be attached: its {} is {:#x} where this build wants {:#x}; "
                                               "pool and trainer must come from one build of feedring",
                                               what, got, want));
}

}  // namespace

contract::RingShape lay_out_ring(std::uint32_t slots, std::uint32_t tasks, std::uint32_t rows,
                                 const std::vector<TensorSpec>& tensors) {
  if (slots < 1 || slots > contract::kMaxSlots || tasks < 1 || tasks > contract::kMaxTasks || rows < 1 ||
      tensors.size() > contract::kMaxTensors) {
    throw Error(ErrorKind::kUsage,
                fmt::format("a ring of {} slots, {} tasks, {} rows and {} tensors cannot be made: slots are 1 to {}, "
                            "tasks 1 to {}, tensors at most {}",
                            slots, tasks, rows, tensors.size(), contract::kMaxSlots, contract::kMaxTasks,
                            contract::kMaxTensors));
  }
  contract::RingShape shape{};
  shape.slots = slots;
  shape.tasks = tasks;
  shape.rows = rows;
  shape.tensors = static_cast<std::uint32_t>(tensors.size());
  std::uint64_t offset = 0;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    contract::TensorEntry& entry = shape.tensor[t];
    const TensorSpec& spec = tensors[t];
    std::memcpy(entry.name, spec.name.data(), std::min(spec.name.size(), sizeof entry.name - 1));
    entry.dtype = static_cast<std::uint32_t>(spec.dtype);
    entry.dimensions = static_cast<std::uint32_t>(spec.shape.size() + 1);
    std::uint64_t elements = 1;
    for (std::size_t d = spec.shape.size(); d-- > 0;) {
      entry.shape[d + 1] = spec.shape[d];
      entry.strides[d + 1] = spec.strides.empty() ? elements : spec.strides[d];
      elements *= spec.shape[d];
    }
    entry.shape[0] = rows;
    entry.strides[0] = elements;
    entry.row_bytes = elements * bytes_of(spec.dtype);
    entry.offset = offset;
    offset = round_up(offset + rows * entry.row_bytes, contract::kLine);
  }
  shape.control_offset = contract::kPage;
  shape.control_stride = control_stride(tasks);
  shape.payload_offset = round_up(shape.control_offset + slots * shape.control_stride, contract::kPage);
  shape.payload_stride = round_up(offset, contract::kPage);
  shape.bytes = shape.payload_offset + slots * shape.payload_stride;
  if (shape.bytes > kMaxBytes) {
    throw Error(ErrorKind::kUsage, fmt::format("a ring of {} bytes cannot be made: lower batch_size or slots", shape.bytes));
  }
  return shape;
}

std::vector<TensorSpec> image_feed_tensors(std::uint32_t height, std::uint32_t width, Dtype dtype, Layout layout) {
  std::vector<std::uint64_t> strides;  // of one image seen as (3, H, W)
  if (layout == Layout::kNhwc) strides = {1, std::uint64_t{3} * width, 3};
  return {{"images", dtype, {3, height, width}, strides},
          {"labels", Dtype::kInt64, {}, {}},
          {"sample_ids", Dtype::kInt64, {}, {}},
          {"valid", Dtype::kUint8, {}, {}},
          {"status", Dtype::kUint8, {}, {}}};
}

void create_ring(std::byte* base, const contract::RingShape& shape) noexcept {
  auto* header = reinterpret_cast<contract::RingHeader<std::atomic>*>(base);
  header->magic = contract::kRingMagic;
  std::memcpy(&header->shape, &shape, sizeof shape);
  header->stamp.store(contract::fingerprint(), std::memory_order_release);
}

contract::RingShape read_ring_shape(std::span<const std::byte> memory) {
  if (memory.size() < contract::kPage) refuse("size", contract::kPage, memory.size());
  const auto* header = reinterpret_cast<const contract::RingHeader<std::atomic>*>(memory.data());
  const std::uint64_t stamp = header->stamp.load(std::memory_order_acquire);
  if (stamp != contract::fingerprint()) refuse("fingerprint", contract::fingerprint(), stamp);
  if (header->magic != contract::kRingMagic) refuse("magic", contract::kRingMagic, header->magic);
  contract::RingShape shape;
  std::memcpy(&shape, &header->shape, sizeof shape);  // one copy; what follows looks at the copy alone

  if (shape.bytes != memory.size()) refuse("length", memory.size(), shape.bytes);
  if (shape.slots < 1 || shape.slots > contract::kMaxSlots) refuse("number of slots", contract::kMaxSlots, shape.slots);
  if (shape.tasks < 1 || shape.tasks > contract::kMaxTasks) refuse("number of tasks", contract::kMaxTasks, shape.tasks);
  if (shape.rows < 1 || shape.rows > kMaxBytes) refuse("number of rows", 1, shape.rows);
  if (shape.tensors > contract::kMaxTensors) refuse("number of tensors", contract::kMaxTensors, shape.tensors);
  if (shape.control_offset != contract::kPage) refuse("control offset", contract::kPage, shape.control_offset);
  if (shape.control_stride != control_stride(shape.tasks))
    refuse("control stride", control_stride(shape.tasks), shape.control_stride);
  const std::uint64_t payload = round_up(shape.control_offset + shape.slots * shape.control_stride, contract::kPage);
  if (shape.payload_offset != payload) refuse("payload offset", payload, shape.payload_offset);
  if (shape.payload_stride > kMaxBytes || shape.payload_offset + shape.slots * shape.payload_stride != shape.bytes)
    refuse("payload stride", (shape.bytes - payload) / shape.slots, shape.payload_stride);
  for (std::uint32_t t = 0; t < shape.tensors; ++t) {
    contract::TensorEntry& entry = shape.tensor[t];
    entry.name[sizeof entry.name - 1] = '\0';
    if (entry.dtype > static_cast<std::uint32_t>(Dtype::kBfloat16)) refuse("tensor type", 4, entry.dtype);
    if (entry.dimensions < 1 || entry.dimensions > 4) refuse("tensor rank", 4, entry.dimensions);
    if (entry.offset > shape.payload_stride || entry.row_bytes > kMaxBytes / shape.rows ||
        entry.row_bytes * shape.rows > shape.payload_stride - entry.offset)
      refuse("tensor size", shape.payload_stride, entry.row_bytes);
    std::uint64_t elements = 1;
    for (std::uint32_t d = 1; d < entry.dimensions; ++d) {
      if (entry.shape[d] > kMaxBytes || elements * entry.shape[d] > entry.row_bytes) refuse("tensor shape", 0, entry.shape[d]);
      elements *= entry.shape[d];
    }
    if (entry.shape[0] != shape.rows || elements * bytes_of(static_cast<Dtype>(entry.dtype)) != entry.row_bytes)
      refuse("tensor row size", entry.row_bytes, elements);
    for (std::uint32_t d = 0; d < entry.dimensions; ++d) {
      if (entry.strides[d] > elements) refuse("tensor stride", elements, entry.strides[d]);
    }
  }
  return shape;
}

const contract::TensorEntry* find_tensor(const contract::RingShape& shape, std::string_view name) noexcept {
  for (std::uint32_t t = 0; t < shape.tensors; ++t) {
    if (name == shape.tensor[t].name) return &shape.tensor[t];
  }
  return nullptr;
}

}  // namespace feedring
