// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/row_writer.hpp"

#include <cstring>
#include <span>

#include "producers/pool/slot_values.hpp"
#include "runtime/fault_point.hpp"

namespace feedring {

using contract::RowStatus;

RowStatus RowWriter::write(FeedContext& feed, const contract::RingShape& shape, const RowTask& task) {
  const std::uint32_t row = task.place.row;
  const Plan& plan = feed.plan(task.seed, task.epoch);
  const std::uint64_t planned = plan.sample(task.ordinal);
  const auto substitute = [&](std::uint64_t attempt) {
    const auto [begin, end] = feed.index().class_range(feed.index().label(planned));
    return plan.substitute(task.ordinal, attempt, begin, end);
  };
  shots_.clear();
  for (const Views::Group& group : feed.views().groups()) {
    const contract::TensorEntry* tensor = find_tensor(shape, group.tensor);
    auto* out = reinterpret_cast<std::uint8_t*>(task.payload + tensor->offset + row * tensor->row_bytes);
    const std::size_t bytes = group.pipeline.bytes_per_image();
    for (std::uint32_t i = 0; i < group.count; ++i, out += bytes)
      shots_.push_back({plan.draw(task.ordinal, Stream::kAugment, shots_.size()), {out, bytes}});
  }
  files_.clear();
  const std::vector<ColumnSpec>& columns = feed.columns().columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!of_files(columns[i].kind)) continue;
    const contract::TensorEntry* tensor = find_tensor(shape, columns[i].name);
    files_.push_back({i,
                      {reinterpret_cast<std::uint8_t*>(task.payload + tensor->offset + row * tensor->row_bytes),
                       feed.bytes_in_slot(columns[i])}});
  }
  const SampleWriter::Result result =
      images_.write(feed, task, planned, shots_, std::nullopt, std::ref(substitute), files_);

  std::span<const std::byte> values = feed.columns().row(result.sample);
  for (const ColumnSpec& column : columns) {
    if (!of_files(column.kind)) {
      const contract::TensorEntry* tensor = find_tensor(shape, column.name);
      std::memcpy(task.payload + tensor->offset + row * tensor->row_bytes, values.data(), column.bytes());
    }
    values = values.subspan(column.bytes());
  }
  TensorPlace(shape, "labels").put(task.payload, row, 0, static_cast<std::int64_t>(feed.index().label(result.sample)));
  TensorPlace(shape, "sample_ids").put(task.payload, row, 0, static_cast<std::int64_t>(result.sample));
  fault_point("row, within its columns");
  TensorPlace(shape, "valid").put(task.payload, row, 0, static_cast<std::uint8_t>(task.valid && result.good()));
  TensorPlace(shape, "status").put(task.payload, row, 0, static_cast<std::uint8_t>(result.status));
  return result.status;
}

}  // namespace feedring
