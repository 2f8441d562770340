// SPDX-License-Identifier: Apache-2.0
#include "runtime/ring_segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <feedring/error.hpp>

namespace feedring {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

// A size that no node has, so that sums of a few of them cannot overflow.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 46;
constexpr std::uint64_t kMaxUnits = std::uint64_t{1} << 31;  // so that the numbers of parts are 32 bit

// a * b, or kMaxBytes + 1 where it is more than kMaxBytes, however large a and b are.
constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kMaxBytes / b ? kMaxBytes + 1 : a * b;
}

// Where the parts before the payloads lie, and where the payloads begin; slots and tasks are within their limits.
void lay_out_control(contract::RingShape& shape) {
  shape.slots_offset = contract::kPage;
  shape.tasks_offset = shape.slots_offset + shape.slots * sizeof(contract::SlotControl<std::atomic>);
  const std::uint64_t tasks = std::uint64_t{shape.slots} * shape.tasks;
  shape.failures_offset = shape.tasks_offset + tasks * sizeof(contract::TaskLine<std::atomic>);
  shape.payload_offset = round_up(shape.failures_offset + tasks * sizeof(contract::FailureRecord), contract::kPage);
}

// Elements of one row.
std::uint64_t elements_of(const contract::TensorEntry& entry) {
  std::uint64_t elements = 1;
  for (std::uint32_t d = 1; d < entry.dimensions; ++d) elements = product(elements, entry.shape[d]);
  return elements;
}

// Whether the strides lead to each element of a row without leaving the row, for dimensions of a checked number and
// size.
bool strides_stay_inside(const contract::TensorEntry& entry) {
  const std::uint64_t elements = elements_of(entry);
  std::uint64_t last = 0;  // where the element with the largest indices lies
  for (std::uint32_t d = 1; d < entry.dimensions; ++d) last += product(entry.strides[d], entry.shape[d] - 1);
  return entry.strides[0] == elements && last < elements;
}

[[noreturn]] void refuse(const char* what, std::uint64_t want, std::uint64_t got) {
  throw Error(ErrorKind::kRefused,
              fmt::format("a ring cannot be attached: its {} is {:#x} where this build wants {:#x}; "
                          "pool and trainer must come from one build of feedring",
                          what, got, want));
}

// Refuses an entry of a header that a peer wrote unless views of the tensor stay inside of a slot's payload and no
// other tensor lies in its bytes: `offset` is where this build would place it.
void check_tensor(const contract::TensorEntry& entry, std::uint32_t rows, std::uint64_t offset) {
  if (entry.dtype >= kDtypes.size()) refuse("tensor type", kDtypes.size() - 1, entry.dtype);
  if (entry.dimensions < 1 || entry.dimensions > contract::kMaxDimensions)
    refuse("number of a tensor's dimensions", contract::kMaxDimensions, entry.dimensions);
  if (entry.shape[0] != rows) refuse("number of a tensor's rows", rows, entry.shape[0]);
  for (std::uint32_t d = 1; d < entry.dimensions; ++d) {
    if (entry.shape[d] < 1) refuse("tensor dimension", 1, entry.shape[d]);
  }
  const std::uint64_t row_bytes = product(elements_of(entry), bytes_of(static_cast<Dtype>(entry.dtype)));
  if (product(row_bytes, rows) > kMaxBytes) refuse("tensor size", kMaxBytes, product(row_bytes, rows));
  if (entry.row_bytes != row_bytes) refuse("tensor row size", row_bytes, entry.row_bytes);
  if (!strides_stay_inside(entry)) refuse("tensor stride", elements_of(entry), entry.strides[0]);
  if (entry.offset != offset) refuse("tensor offset", offset, entry.offset);
}

[[noreturn]] void unusable(std::string_view tensor, const char* why) {
  throw Error(ErrorKind::kUsage, fmt::format("a ring cannot hold a tensor '{}': {}", tensor, why));
}

// The entry of a tensor that shall lie at `offset`.
contract::TensorEntry lay_out_tensor(const TensorSpec& spec, std::uint32_t rows, std::uint64_t offset) {
  contract::TensorEntry entry{};
  if (spec.name.empty() || spec.name.size() >= sizeof entry.name) unusable(spec.name, "names have 1 to 23 bytes");
  if (spec.shape.size() >= contract::kMaxDimensions) unusable(spec.name, "a row has at most 4 dimensions");
  if (!spec.strides.empty() && spec.strides.size() != spec.shape.size()) {
    unusable(spec.name, "there must be a stride for each dimension of a row");
  }
  if (std::count(spec.shape.begin(), spec.shape.end(), 0) != 0) unusable(spec.name, "a dimension is 0");
  std::memcpy(entry.name, spec.name.data(), spec.name.size());
  entry.dtype = static_cast<std::uint32_t>(spec.dtype);
  entry.dimensions = static_cast<std::uint32_t>(spec.shape.size() + 1);
  std::uint64_t elements = 1;
  for (std::size_t d = spec.shape.size(); d-- > 0;) {
    entry.shape[d + 1] = spec.shape[d];
    entry.strides[d + 1] = spec.strides.empty() ? elements : spec.strides[d];
    elements = product(elements, spec.shape[d]);
  }
  entry.shape[0] = rows;
  entry.strides[0] = elements;
  entry.row_bytes = product(elements, bytes_of(spec.dtype));
  entry.offset = offset;
  if (product(entry.row_bytes, rows) > kMaxBytes) unusable(spec.name, "it is too large; lower batch_size");
  if (!strides_stay_inside(entry)) unusable(spec.name, "its strides lead out of a row");
  return entry;
}

}  // namespace

contract::RingShape lay_out_ring(std::uint32_t slots, std::uint32_t tasks, std::uint32_t rows,
                                 const std::vector<TensorSpec>& tensors, std::uint32_t parts) {
  if (slots < 1 || slots > contract::kMaxSlots || tasks < 1 || tasks > contract::kMaxTasks || rows < 1 || parts < 1 ||
      product(rows, parts) > kMaxUnits || tensors.size() > contract::kMaxTensors) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("a ring of {} slots, {} tasks, {} rows of {} and {} tensors cannot be made: slots are 1 to {}, "
                    "tasks 1 to {}, tensors at most {}",
                    slots, tasks, rows, parts, tensors.size(), contract::kMaxSlots, contract::kMaxTasks,
                    contract::kMaxTensors));
  }
  contract::RingShape shape{};
  shape.slots = slots;
  shape.tasks = tasks;
  shape.rows = rows;
  shape.parts = parts;
  std::uint64_t offset = 0;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (find_tensor(shape, tensors[t].name) != nullptr) unusable(tensors[t].name, "the name is taken");
    shape.tensor[t] = lay_out_tensor(tensors[t], rows, offset);
    shape.tensors = static_cast<std::uint32_t>(t + 1);
    offset = round_up(offset + rows * shape.tensor[t].row_bytes, contract::kLine);
  }
  lay_out_control(shape);
  shape.payload_stride = round_up(offset, contract::kPage);
  shape.bytes = shape.payload_offset + slots * shape.payload_stride;
  if (shape.bytes > kMaxBytes) {
    throw Error(ErrorKind::kUsage,
                fmt::format("a ring of {} bytes cannot be made: lower batch_size or slots", shape.bytes));
  }
  return shape;
}

TensorSpec picture_tensor(std::string_view name, std::optional<std::uint32_t> count, std::uint32_t height,
                          std::uint32_t width, Dtype dtype, Layout layout) {
  TensorSpec tensor{name, dtype, {3, height, width}, {}};
  if (layout == Layout::kNhwc) tensor.strides = {1, std::uint64_t{3} * width, 3};
  if (!count) return tensor;
  tensor.shape.insert(tensor.shape.begin(), *count);
  if (!tensor.strides.empty()) tensor.strides.insert(tensor.strides.begin(), std::uint64_t{3} * height * width);
  return tensor;
}

std::vector<TensorSpec> file_feed_tensors(std::vector<TensorSpec> content) {
  content.push_back({"labels", Dtype::kInt64, {}, {}});
  content.push_back({"sample_ids", Dtype::kInt64, {}, {}});
  content.push_back({"valid", Dtype::kUint8, {}, {}});
  content.push_back({"status", Dtype::kUint8, {}, {}});
  return content;
}

std::vector<TensorSpec> image_feed_tensors(std::uint32_t height, std::uint32_t width, Dtype dtype, Layout layout) {
  return file_feed_tensors({picture_tensor("images", std::nullopt, height, width, dtype, layout)});
}

void create_ring(std::byte* base, const contract::RingShape& shape) noexcept {
  auto* header = reinterpret_cast<contract::RingHeader<std::atomic>*>(base);
  header->magic = contract::kRingMagic;
  std::memcpy(&header->shape, &shape, sizeof shape);
  header->stamp.store(contract::fingerprint(), std::memory_order_release);  // R0
}

contract::RingShape read_ring_shape(std::span<const std::byte> memory) {
  if (memory.size() < contract::kPage) refuse("size", contract::kPage, memory.size());
  const auto* header = reinterpret_cast<const contract::RingHeader<std::atomic>*>(memory.data());
  const std::uint64_t stamp = header->stamp.load(std::memory_order_acquire);  // A0
  if (stamp != contract::fingerprint()) refuse("fingerprint", contract::fingerprint(), stamp);
  if (header->magic != contract::kRingMagic) refuse("magic", contract::kRingMagic, header->magic);
  contract::RingShape shape;
  std::memcpy(&shape, &header->shape, sizeof shape);  // one copy; what follows looks at the copy alone

  if (shape.bytes != memory.size()) refuse("length", memory.size(), shape.bytes);
  if (shape.slots < 1 || shape.slots > contract::kMaxSlots) refuse("number of slots", contract::kMaxSlots, shape.slots);
  if (shape.tasks < 1 || shape.tasks > contract::kMaxTasks) refuse("number of tasks", contract::kMaxTasks, shape.tasks);
  if (shape.rows < 1) refuse("number of rows", 1, shape.rows);
  if (shape.parts < 1) refuse("number of a row's parts", 1, shape.parts);
  if (product(shape.rows, shape.parts) > kMaxUnits)
    refuse("number of parts", kMaxUnits, product(shape.rows, shape.parts));
  if (shape.tensors > contract::kMaxTensors) refuse("number of tensors", contract::kMaxTensors, shape.tensors);
  contract::RingShape want = shape;
  lay_out_control(want);
  if (shape.slots_offset != want.slots_offset) refuse("slots' offset", want.slots_offset, shape.slots_offset);
  if (shape.tasks_offset != want.tasks_offset) refuse("tasks' offset", want.tasks_offset, shape.tasks_offset);
  if (shape.failures_offset != want.failures_offset)
    refuse("failures' offset", want.failures_offset, shape.failures_offset);
  if (shape.payload_offset != want.payload_offset) refuse("payload offset", want.payload_offset, shape.payload_offset);
  std::uint64_t offset = 0;
  for (std::uint32_t t = 0; t < shape.tensors; ++t) {
    contract::TensorEntry& entry = shape.tensor[t];
    entry.name[sizeof entry.name - 1] = '\0';
    check_tensor(entry, shape.rows, offset);
    offset = round_up(offset + shape.rows * entry.row_bytes, contract::kLine);
  }
  const std::uint64_t stride = round_up(offset, contract::kPage);
  if (shape.payload_stride != stride) refuse("payload stride", stride, shape.payload_stride);
  const std::uint64_t bytes = shape.payload_offset + shape.slots * stride;
  if (shape.bytes != bytes) refuse("length", bytes, shape.bytes);
  return shape;
}

const contract::TensorEntry* find_tensor(const contract::RingShape& shape, std::string_view name) noexcept {
  for (std::uint32_t t = 0; t < shape.tensors; ++t) {
    if (name == shape.tensor[t].name) return &shape.tensor[t];
  }
  return nullptr;
}

}  // namespace feedring
