// SPDX-License-Identifier: Apache-2.0
// The handful of calls of the CUDA runtime that feedring makes, declared here so that it builds where no toolkit is. A
// test compares them with NVIDIA's headers where these are (tests/device/cuda_api_test.cpp).
#pragma once

#include <cstddef>

namespace feedring::cudart {

using Status = int;       // cudaError_t
using StreamPtr = void*;  // cudaStream_t
using EventPtr = void*;   // cudaEvent_t
using HostFunction = void (*)(void*);

inline constexpr Status kSuccess = 0;
inline constexpr Status kInvalidValue = 1;
inline constexpr Status kMemoryAllocation = 2;
inline constexpr Status kCallRequiresNewerDriver = 36;
inline constexpr Status kNotReady = 600;
inline constexpr Status kNotSupported = 801;
inline constexpr Status kCaptureImplicit = 906;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostRegisterPortable = 1;
inline constexpr int kMemcpyDefault = 4;
inline constexpr int kCaptureModeRelaxed = 2;
inline constexpr int kNotCapturing = 0;
inline constexpr int kSourceInStreamOrder = 1;
inline constexpr int kLocationDevice = 1;
inline constexpr int kLocationHost = 2;
inline constexpr int kBatchSince = 12080;
inline constexpr int kBatchWithoutFailIndexSince = 13000;

struct Location {
  int type;
  int id;
};
struct CopyAttributes {
  int source_access_order;
  Location source;
  Location destination;
  unsigned flags;
};

/// X(name, type of the function). All are in every runtime since 11.0.
#define FEEDRING_CUDART_CALLS(X)                                \
  X(cudaGetErrorName, const char*(Status))                      \
  X(cudaGetErrorString, const char*(Status))                    \
  X(cudaGetLastError, Status())                                 \
  X(cudaRuntimeGetVersion, Status(int*))                        \
  X(cudaGetDeviceCount, Status(int*))                           \
  X(cudaGetDevice, Status(int*))                                \
  X(cudaSetDevice, Status(int))                                 \
  X(cudaThreadExchangeStreamCaptureMode, Status(int*))          \
  X(cudaStreamCreateWithFlags, Status(StreamPtr*, unsigned))    \
  X(cudaStreamDestroy, Status(StreamPtr))                       \
  X(cudaStreamQuery, Status(StreamPtr))                         \
  X(cudaStreamIsCapturing, Status(StreamPtr, int*))             \
  X(cudaStreamSynchronize, Status(StreamPtr))                   \
  X(cudaStreamWaitEvent, Status(StreamPtr, EventPtr, unsigned)) \
  X(cudaEventCreateWithFlags, Status(EventPtr*, unsigned))      \
  X(cudaEventDestroy, Status(EventPtr))                         \
  X(cudaEventRecord, Status(EventPtr, StreamPtr))               \
  X(cudaLaunchHostFunc, Status(StreamPtr, HostFunction, void*)) \
  X(cudaMalloc, Status(void**, std::size_t))                    \
  X(cudaFree, Status(void*))                                    \
  X(cudaHostRegister, Status(void*, std::size_t, unsigned))     \
  X(cudaHostUnregister, Status(void*))                          \
  X(cudaMemcpyAsync, Status(void*, const void*, std::size_t, int, StreamPtr))

/// cudaGetDriverEntryPoint; the last argument, cudaDriverEntryPointQueryResult*, came with 12 and may be null.
using EntryPoint = Status(const char*, void**, unsigned long long, void*);

/// cudaMemcpyBatchAsync: one name, two signatures.
using Batch12 = Status(void**, void**, std::size_t*, std::size_t, CopyAttributes*, std::size_t*, std::size_t,
                       std::size_t*, StreamPtr);
using Batch13 = Status(void* const*, const void* const*, const std::size_t*, std::size_t, CopyAttributes*, std::size_t*,
                       std::size_t, StreamPtr);

}  // namespace feedring::cudart
