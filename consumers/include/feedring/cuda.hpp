// SPDX-License-Identifier: Apache-2.0
// CUDA as the device of a feed: batches come as tensors on the GPU, copied there while the step before runs.
//
//   auto feed = feedring::Feed::attach({.name = "train", .device = feedring::cuda("cuda:0")});
//
// Needs no CUDA when this is built: the runtime is looked for when cuda() is called. docs/device.md has the rules for
// streams and allocators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <feedring/device.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace feedring {

struct CudaOptions {
  /// Path of the CUDA runtime library; empty: the libcudart that the program has loaded, else the system's.
  std::string runtime = {};
  /// Where device memory comes from (feedring/torch.hpp has torch's allocator); empty: cudaMalloc. Gets bytes and the
  /// device's index, is called by the thread inside Feed::next(), and throws where there is none.
  std::function<std::shared_ptr<void>(std::size_t, std::int32_t)> allocate = {};
};

/// The GPU "cuda:N" of this process's numbering; "cuda" is the calling thread's current device. Makes two streams on it
/// and touches no other device. Throws Error(kUsage) for another name or a number that is too large, Error(kRefused),
/// naming CUDA's own error, where there is no runtime, driver or device.
[[nodiscard]] std::shared_ptr<Device> cuda(std::string_view name = "cuda", const CudaOptions& options = {});

/// What cuda() would say if it failed for want of a runtime, driver or device, beginning with the name of CUDA's error;
/// empty where there is one. Uses no device.
[[nodiscard]] std::string why_no_cuda(const CudaOptions& options = {});

}  // namespace feedring
