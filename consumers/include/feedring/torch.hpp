// SPDX-License-Identifier: Apache-2.0
// LibTorch tensors over a batch, without a copy. Header-only: link feedring::torch.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <feedring/batch.hpp>
#include <string_view>

namespace feedring {

[[nodiscard]] inline at::ScalarType scalar_type_of(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::kUint8: return at::kByte;
    case Dtype::kInt64: return at::kLong;
    case Dtype::kFloat32: return at::kFloat;
    case Dtype::kFloat16: return at::kHalf;
    case Dtype::kBfloat16: return at::kBFloat16;
  }
  return at::kByte;
}

/// A view of the batch's tensor `name`. The slot stays with this rank until the batch and all tensors over it are gone,
/// so keep them no longer than needed: a rank that holds all its slots gets no further batch. Never write into it.
/// Throws Error as Batch::tensor() does.
[[nodiscard]] inline at::Tensor to_tensor(const Batch& batch, std::string_view name) {
  const TensorView view = batch.tensor(name);
  const auto shape = view.shape();
  const auto strides = view.strides();
  return at::from_blob(
      view.data, at::IntArrayRef(shape.data(), shape.size()), at::IntArrayRef(strides.data(), strides.size()),
      [lease = batch.lease()](void*) mutable { lease.reset(); }, at::TensorOptions(scalar_type_of(view.dtype)));
}

}  // namespace feedring
