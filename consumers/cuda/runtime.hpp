// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime as it is found when a program asks for it: an already loaded copy first, so that torch's and ours
// are one, then the system's.
#pragma once

#include <string>
#include <type_traits>

#include "consumers/cuda/api.hpp"

namespace feedring::cudart {

struct Runtime {
#define FEEDRING_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  FEEDRING_CUDART_CALLS(FEEDRING_MEMBER)
#undef FEEDRING_MEMBER
  /// At most one of them is there, by what cudaRuntimeGetVersion says.
  Batch12* batch_12 = nullptr;
  Batch13* batch_13 = nullptr;
  EntryPoint* entry_point = nullptr;  ///< cudaGetDriverEntryPoint, since 11.3
  int version = 0;                    ///< 1000 x major + 10 x minor
  std::string path;                   ///< of the library

  /// "cudaErrorInsufficientDriver (CUDA driver version is insufficient …)". Clears what the call left behind for
  /// cudaGetLastError, which the program's own next call would be blamed for.
  [[nodiscard]] std::string explain(Status status) const;
};

/// The library at `path`, or, where that is empty, the one that is there; stays loaded. Throws Error(kRefused) where
/// none is, or one lacks a call that is needed.
[[nodiscard]] const Runtime& load_runtime(const std::string& path);

}  // namespace feedring::cudart
