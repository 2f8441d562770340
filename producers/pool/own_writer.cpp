// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/own_writer.hpp"

#include <cstring>
#include <exception>
#include <feedring/error.hpp>

#include "producers/pool/slot_values.hpp"
#include "runtime/fault_point.hpp"

namespace feedring {

using contract::RowStatus;

void SlotTensor::wrong_type(std::size_t asked) const {
  throw Error(ErrorKind::kUsage, "tensor '" + spec.name + "' has elements of type " + std::string(name_of(spec.dtype)) +
                                     ", which have not " + std::to_string(asked) + " bytes");
}

void SlotTensor::put(const RgbPicture& picture) const {
  if (transform_ == nullptr)
    throw Error(ErrorKind::kUsage, "tensor '" + spec.name + "' has no transform: write its elements");
  transform_->run(picture, bytes);
}

RowStatus OwnWriter::write(FeedContext& feed, const contract::RingShape& shape, const RowTask& task) {
  const std::uint32_t row = task.place.row;
  views_.clear();
  pictures_.clear();
  const std::vector<OwnTensor>& tensors = feed.own().tensors;
  pictures_.reserve(tensors.size());  // views point at them
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const contract::TensorEntry* entry = find_tensor(shape, tensors[i].name);
    PictureTransform* transform = nullptr;
    if (Pipeline* const pipeline = feed.pictures(i)) {
      // The first has the numbers of a feed of files, each further one its own.
      const Draw random(task.seed, task.epoch, task.ordinal, Stream::kAugment, pictures_.size());
      transform = &pictures_.emplace_back(*pipeline, random, feed.spec().max_pixels);
    }
    views_.emplace_back(tensors[i], std::span(task.payload + entry->offset + row * entry->row_bytes, entry->row_bytes),
                        transform);
  }
  const auto clear = [&] {
    for (const SlotTensor& view : views_) std::memset(view.bytes.data(), 0, view.bytes.size());
  };
  const Plan& plan = feed.plan(task.seed, task.epoch);
  const std::uint64_t planned = plan.sample(task.ordinal);
  SampleRequest request{.sample = planned,
                        .epoch = task.epoch,
                        .ordinal = task.ordinal,
                        .random = plan.draw(task.ordinal, Stream::kAugment).bits()};
  const auto fill = [&](std::uint64_t sample) -> Fault {
    request.sample = sample;
    samples_.now(contract::WorkPhase::kDecode);
    clear();  // a Filler that leaves something out shall not show what another sample left there
    try {
      fault_point("decode, before the picture");
      feed.filler().fill(request, views_);
      fault_point("decode, after the picture");
    } catch (const std::exception& error) {
      return std::string("the producer program says: ") + error.what();
    } catch (...) {
      return std::string("the producer program threw something that is no std::exception");
    }
    return std::nullopt;
  };
  const auto substitute = [&](std::uint64_t attempt) {
    return plan.substitute(task.ordinal, attempt, 0, feed.index().size());
  };
  const auto result = samples_.write(feed, task, planned, std::ref(fill), std::ref(substitute), std::ref(clear));
  TensorPlace(shape, "sample_ids").put(task.payload, row, 0, static_cast<std::int64_t>(result.sample));
  fault_point("row, within its columns");
  TensorPlace(shape, "valid").put(task.payload, row, 0, static_cast<std::uint8_t>(task.valid && result.good()));
  TensorPlace(shape, "status").put(task.payload, row, 0, static_cast<std::uint8_t>(result.status));
  return result.status;
}

}  // namespace feedring
