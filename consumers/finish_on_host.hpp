// SPDX-License-Identifier: Apache-2.0
// Finishing on the CPU what the CUDA device finishes on the GPU, with the same table, so to the same bits.
#pragma once

#include <feedring/device.hpp>

namespace feedring {

/// All addresses are the host's.
void finish_on_host(const FinishWork& work) noexcept;

}  // namespace feedring
