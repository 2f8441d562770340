// SPDX-License-Identifier: Apache-2.0
// Launching finish.cu: its text is translated by the driver for the GPU at hand, once a device. The driver is reached
// through the runtime (cudaGetDriverEntryPoint), so that nothing links it and the two agree.
#pragma once

#include <feedring/device.hpp>

#include "consumers/cuda/context.hpp"

namespace feedring::cudart {

class FinishKernel {
 public:
  /// On a thread whose current device is the context's (Context::run). Throws Error(kRefused), with the driver's error,
  /// where it cannot be had.
  explicit FinishKernel(const Context& context);
  FinishKernel(const FinishKernel&) = delete;
  FinishKernel& operator=(const FinishKernel&) = delete;
  /// The module stays with the GPU's context: unloading it here could meet work that is under way.
  ~FinishKernel() = default;

  /// Puts the work on the context's own stream, on a thread as above. Throws Error(kInternal).
  void launch(const Context& context, const FinishWork& work) const;

 private:
  void* launch_ = nullptr;      // cuLaunchKernel
  void* error_name_ = nullptr;  // cuGetErrorName
  void* functions_[3] = {};     // CUfunction, for elements of 1, 2 and 4 bytes
};

}  // namespace feedring::cudart
