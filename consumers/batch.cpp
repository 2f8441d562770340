// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <feedring/batch.hpp>
#include <feedring/error.hpp>
#include <string>
#include <utility>

#include "consumers/batch_content.hpp"

namespace feedring {
namespace {

constexpr std::chrono::seconds kPatience{120};  // of a CPU that plays a device's stream, for the copy

TensorView view_of(const BatchContent& content, const contract::TensorEntry& entry) {
  TensorView view;
  std::byte* base = content.device ? content.device->data() : content.memory->ring().payload(content.slot);
  view.data = base + entry.offset;
  if (content.device) view.device = content.device->tag();
  view.dtype = static_cast<Dtype>(entry.dtype);
  view.dimensions = entry.dimensions;
  for (std::uint32_t d = 0; d < entry.dimensions; ++d) {
    view.sizes[d] = static_cast<std::int64_t>(entry.shape[d]);
    view.steps[d] = static_cast<std::int64_t>(entry.strides[d]);
  }
  view.bytes = bytes_of(entry);
  return view;
}

// For the CPU, wherever the batch lies.
template <class T>
std::span<const T> column(const BatchContent& content, const contract::TensorEntry& entry, Dtype dtype) {
  if (static_cast<Dtype>(entry.dtype) != dtype || !is_column(entry)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the tensor '{}' of this feed holds {} where a column of {} was expected", entry.name,
                            name_of(static_cast<Dtype>(entry.dtype)), name_of(dtype)));
  }
  const contract::RingShape& shape = content.memory->ring().shape();
  const std::byte* data = content.device ? content.device->columns() + column_offset(shape, entry)
                                         : content.memory->ring().payload(content.slot) + entry.offset;
  return {reinterpret_cast<const T*>(data), bytes_of(entry) / sizeof(T)};
}

}  // namespace

Batch::Batch(std::shared_ptr<const BatchContent> content) noexcept : content_(std::move(content)) {}

const BatchContent& Batch::content() const {
  if (content_ == nullptr) throw Error(ErrorKind::kUsage, "this batch was released or moved from: it has no content");
  if (!content_->memory->is_mine()) {
    throw Error(ErrorKind::kForked,
                fmt::format("{}: a forked child cannot use a batch of its parent; attach a feed of its "
                            "own or start the child with exec",
                            content_->memory->what()));
  }
  return *content_;
}

const contract::TensorEntry& Batch::entry_of(std::string_view name) const {
  const BatchContent& batch = content();
  if (const auto* finished = batch.device ? batch.device->finished(name) : nullptr) return *finished;
  const contract::TensorEntry* entry = find_tensor(batch.memory->ring().shape(), name);
  if (entry == nullptr) {
    std::string known;
    for (const std::string_view each : names()) known += fmt::format("{}{}", known.empty() ? "" : ", ", each);
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: a batch has no tensor '{}'; it has: {}", batch.memory->what(), name, known));
  }
  return *entry;
}

TensorView Batch::tensor(std::string_view name) const { return view_of(content(), entry_of(name)); }

std::vector<std::string_view> Batch::names() const {
  const contract::RingShape& shape = content().memory->ring().shape();
  std::vector<std::string_view> names;
  for (std::uint32_t t = 0; t < shape.tensors; ++t) names.emplace_back(shape.tensor[t].name);
  return names;
}

std::span<const std::int64_t> Batch::labels() const {
  return column<std::int64_t>(content(), entry_of("labels"), Dtype::kInt64);
}
std::span<const std::int64_t> Batch::sample_ids() const {
  return column<std::int64_t>(content(), entry_of("sample_ids"), Dtype::kInt64);
}
std::span<const std::uint8_t> Batch::valid() const {
  return column<std::uint8_t>(content(), entry_of("valid"), Dtype::kUint8);
}

std::uint64_t Batch::epoch() const { return content().wanted.epoch; }
std::uint64_t Batch::step() const { return content().wanted.step; }
std::uint64_t Batch::first_ordinal() const { return content().wanted.share.first; }
std::uint32_t Batch::valid_rows() const { return content().wanted.share.valid; }
std::uint32_t Batch::rows() const { return content().memory->ring().shape().rows; }

void Batch::use_on(StreamHandle stream) const {
  if (content().device) content().device->use_on(stream, kPatience);
}

std::shared_ptr<const void> Batch::lease() const { return {content_, &content()}; }

}  // namespace feedring
