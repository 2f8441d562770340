// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <feedring/batch.hpp>
#include <feedring/error.hpp>
#include <string>
#include <utility>

#include "consumers/batch_content.hpp"

namespace feedring {
namespace {

TensorView view_of(const BatchContent& content, const contract::TensorEntry& entry) {
  TensorView view;
  view.data = content.memory->ring().payload(content.slot) + entry.offset;
  view.dtype = static_cast<Dtype>(entry.dtype);
  view.dimensions = entry.dimensions;
  for (std::uint32_t d = 0; d < entry.dimensions; ++d) {
    view.sizes[d] = static_cast<std::int64_t>(entry.shape[d]);
    view.steps[d] = static_cast<std::int64_t>(entry.strides[d]);
  }
  view.bytes = entry.row_bytes * entry.shape[0];
  return view;
}

template <class T>
std::span<const T> column(const TensorView& view, Dtype dtype, const char* name) {
  if (view.dtype != dtype) {
    throw Error(ErrorKind::kUsage, fmt::format("the tensor '{}' of this feed holds {} where {} was expected", name,
                                               name_of(view.dtype), name_of(dtype)));
  }
  return view.as<T>();
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

TensorView Batch::tensor(std::string_view name) const {
  const BatchContent& batch = content();
  const contract::TensorEntry* entry = find_tensor(batch.memory->ring().shape(), name);
  if (entry == nullptr) {
    std::string known;
    for (const std::string_view each : names()) known += fmt::format("{}{}", known.empty() ? "" : ", ", each);
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: a batch has no tensor '{}'; it has: {}", batch.memory->what(), name, known));
  }
  return view_of(batch, *entry);
}

std::vector<std::string_view> Batch::names() const {
  const contract::RingShape& shape = content().memory->ring().shape();
  std::vector<std::string_view> names;
  for (std::uint32_t t = 0; t < shape.tensors; ++t) names.emplace_back(shape.tensor[t].name);
  return names;
}

std::span<const std::int64_t> Batch::labels() const {
  return column<std::int64_t>(tensor("labels"), Dtype::kInt64, "labels");
}
std::span<const std::int64_t> Batch::sample_ids() const {
  return column<std::int64_t>(tensor("sample_ids"), Dtype::kInt64, "sample_ids");
}
std::span<const std::uint8_t> Batch::valid() const {
  return column<std::uint8_t>(tensor("valid"), Dtype::kUint8, "valid");
}

std::uint64_t Batch::epoch() const { return content().wanted.epoch; }
std::uint64_t Batch::step() const { return content().wanted.step; }
std::uint64_t Batch::first_ordinal() const { return content().wanted.share.first; }
std::uint32_t Batch::valid_rows() const { return content().wanted.share.valid; }
std::uint32_t Batch::rows() const { return content().memory->ring().shape().rows; }

std::shared_ptr<const void> Batch::lease() const { return {content_, &content()}; }

}  // namespace feedring
