// SPDX-License-Identifier: Apache-2.0
#include "consumers/finishing.hpp"

#include <algorithm>
#include <cstring>
#include <feedring/error.hpp>

#include "consumers/batch_content.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {
namespace {

constexpr std::uint64_t kAlignment = 256;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Of the images side by side: (…, 3, H, W).
bool is_interleaved_rgb(const contract::TensorEntry& images) {
  if (images.dtype != static_cast<std::uint32_t>(Dtype::kUint8)) return false;
  if (images.dimensions != 4 && images.dimensions != 5) return false;
  const std::uint64_t* shape = images.shape + images.dimensions - 3;
  const std::uint64_t* strides = images.strides + images.dimensions - 3;
  const std::uint64_t bytes = 3 * shape[1] * shape[2];
  return shape[0] == 3 && strides[0] == 1 && strides[1] == 3 * shape[2] && strides[2] == 3 &&
         (images.dimensions == 4 || images.strides[1] == bytes) && images.strides[0] == images.row_bytes &&
         images.row_bytes == bytes * (images.dimensions == 4 ? 1 : images.shape[1]);
}

contract::TensorEntry finished_entry(const contract::TensorEntry& images, const FinishTable& table) {
  contract::TensorEntry finished = images;
  finished.dtype = static_cast<std::uint32_t>(table.dtype);
  finished.row_bytes = images.row_bytes * bytes_of(table.dtype);
  if (table.layout == Layout::kNchw) {
    const std::uint64_t* shape = images.shape + images.dimensions - 3;
    std::uint64_t* strides = finished.strides + images.dimensions - 3;
    strides[0] = shape[1] * shape[2];
    strides[1] = shape[2];
    strides[2] = 1;
  }
  return finished;
}

}  // namespace

Finishing::Finishing(const std::string& what, const contract::RingShape& shape, const FinishInfo& info)
    : constants_(sizeof info.table.bits), buffer_bytes_(used_bytes(shape)) {
  std::memcpy(constants_.data(), info.table.bits.data(), sizeof info.table.bits);
  for (const FinishInfo::Images& named : info.images) {
    // From the pool, like the table: copied, checked, then used.
    const contract::TensorEntry* images = find_tensor(shape, named.name);
    if (images == nullptr || !is_interleaved_rgb(*images)) {
      throw Error(ErrorKind::kRefused,
                  what + ": the pool wants images finished that are no 8 bit interleaved RGB (" + named.name + ")");
    }
    const std::uint64_t each = images->dimensions == 4 ? 1 : images->shape[1];
    const contract::TensorEntry* flags = find_tensor(shape, named.mask.empty() ? "status" : named.mask);
    if (flags == nullptr || flags->dtype != static_cast<std::uint32_t>(Dtype::kUint8) || flags->row_bytes != each) {
      throw Error(
          ErrorKind::kRefused,
          what + ": the pool wants images finished, and does not say which of them are zeros (" + named.name + ")");
    }
    contract::TensorEntry finished = finished_entry(*images, info.table);
    finished.offset = aligned(buffer_bytes_);
    buffer_bytes_ = finished.offset + bytes_of(finished);
    FinishWork work;
    work.images = images->shape[0] * each;
    work.pixels = images->shape[images->dimensions - 2] * images->shape[images->dimensions - 1];
    work.element_bytes = bytes_of(info.table.dtype);
    work.planar = info.table.layout == Layout::kNchw;
    images_.push_back({work, images->offset, finished.offset, flags->offset, !named.mask.empty()});
    finished_.push_back(finished);
    // Behind the table, the zeros of an image.
    constants_.resize(std::max<std::size_t>(constants_.size(), sizeof info.table.bits + images_.back().bytes()));
  }
}

void Finishing::prepare(Device& device) const {
  for (const Images& images : images_) {
    FinishWork work = images.work;
    work.images = 0;
    device.finish(work);
  }
}

bool Finishing::is_zeros(const Images& images, std::byte flag) noexcept {
  if (images.mask) return flag == std::byte{0};
  const auto status = static_cast<contract::RowStatus>(flag);
  return status != contract::RowStatus::kOk && status != contract::RowStatus::kReplaced;
}

void Finishing::run(Device& device, const std::byte* payload, std::byte* buffer, const std::byte* constants) const {
  std::vector<CopyPiece> zeros;
  for (const Images& images : images_) {
    FinishWork work = images.work;
    work.from = buffer + images.from;
    work.to = buffer + images.to;
    work.table = constants;
    device.finish(work);
    for (std::uint64_t i = 0; i < work.images; ++i) {
      if (is_zeros(images, payload[images.flags + i]))
        zeros.push_back({work.to + i * images.bytes(), constants + sizeof(FinishTable::bits), images.bytes()});
    }
  }
  if (!zeros.empty()) device.copy(zeros);
}

}  // namespace feedring
