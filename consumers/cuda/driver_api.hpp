// SPDX-License-Identifier: Apache-2.0
// The calls of the CUDA driver that a kernel needs, declared here for the same reason as those of the runtime (api.hpp)
// and compared with NVIDIA's headers by the same test.
#pragma once

#include <cstddef>

namespace feedring::cudart {

using DriverStatus = int;  // CUresult
inline constexpr DriverStatus kDriverSuccess = 0;

using ModuleLoadData = DriverStatus(void** module, const void* image);
using ModuleGetFunction = DriverStatus(void** function, void* module, const char* name);
using LaunchKernel = DriverStatus(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                  unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                                  void** arguments, void** extra);
using GetErrorName = DriverStatus(DriverStatus status, const char** name);

}  // namespace feedring::cudart
