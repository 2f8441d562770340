// SPDX-License-Identifier: Apache-2.0
// LibTorch tensors over a batch, on the CPU or a GPU, without a copy. Header-only: link feedring::torch. Needs no torch
// that was built with CUDA as long as no GPU is used.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cstdint>
#include <feedring/batch.hpp>
#include <functional>
#include <memory>
#include <string_view>

namespace feedring {

[[nodiscard]] inline at::ScalarType scalar_type_of(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::kUint8: return at::kByte;
    case Dtype::kInt64: return at::kLong;
    case Dtype::kFloat32: return at::kFloat;
    case Dtype::kFloat16: return at::kHalf;
    case Dtype::kBfloat16: return at::kBFloat16;
    case Dtype::kFloat64: return at::kDouble;
    case Dtype::kInt8: return at::kChar;
    case Dtype::kInt16: return at::kShort;
    case Dtype::kInt32: return at::kInt;
    case Dtype::kBool: return at::kBool;
  }
  return at::kByte;
}

[[nodiscard]] inline at::Device device_of(DeviceTag tag) noexcept {
  return tag.type == DeviceType::kCuda ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(tag.index))
                                       : at::Device(at::kCPU);
}

/// A view of the batch's tensor `name`, without a copy. Slot, or memory of the device, stays with the batch until it
/// and all tensors over it are gone, so keep them no longer than needed: a rank that holds all its slots gets no
/// further batch. Never write into it. On a device it is for work on the feed's stream; before using it on another one
/// say batch.use_on(). Throws Error as Batch::tensor() does.
[[nodiscard]] inline at::Tensor to_tensor(const Batch& batch, std::string_view name) {
  const TensorView view = batch.tensor(name);
  const auto shape = view.shape();
  const auto strides = view.strides();
  const at::Device device = device_of(view.device);
  return at::from_blob(
      view.data, at::IntArrayRef(shape.data(), shape.size()), at::IntArrayRef(strides.data(), strides.size()),
      [lease = batch.lease()](void*) mutable { lease.reset(); },
      at::TensorOptions(scalar_type_of(view.dtype)).device(device), device);
}

/// For CudaOptions::allocate: batches lie in memory of torch's caching allocator, so that torch.cuda.memory_summary()
/// counts them and there is one pool of device memory.
[[nodiscard]] inline std::function<std::shared_ptr<void>(std::size_t, std::int32_t)> torch_allocator() {
  return [](std::size_t bytes, std::int32_t index) {
    auto block = std::make_shared<at::Tensor>(
        at::empty({static_cast<std::int64_t>(bytes)},
                  at::TensorOptions(at::kByte).device(at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index)))));
    return std::shared_ptr<void>(block, block->data_ptr());
  };
}

}  // namespace feedring
