// SPDX-License-Identifier: Apache-2.0
// What consumers/cuda/api.hpp declares is what NVIDIA's headers declare, where these are. Checked while compiling.
#include <gtest/gtest.h>

#include "consumers/cuda/api.hpp"
#include "consumers/cuda/driver_api.hpp"

#if __has_include(<cuda_runtime_api.h>)
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>

namespace feedring::cudart {
namespace {

// The same way through registers: a pointer is a pointer, an enum an integer of its size.
template <class Ours, class Theirs>
constexpr bool passes_as() {
  if constexpr (std::is_pointer_v<Ours>)
    return std::is_pointer_v<Theirs>;
  else
    return sizeof(Ours) == sizeof(Theirs) && (std::is_integral_v<Theirs> || std::is_enum_v<Theirs>);
}
template <class Ours, class Theirs>
struct Same : std::false_type {};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) struct Same<R(A...), S(B...)>
    : std::bool_constant<passes_as<R, S>() && (passes_as<A, B>() && ...)> {
};

#define FEEDRING_CHECK(name, ...) static_assert(Same<__VA_ARGS__, decltype(::name)>::value, #name);
FEEDRING_CUDART_CALLS(FEEDRING_CHECK)
#undef FEEDRING_CHECK

static_assert(kSuccess == cudaSuccess && kInvalidValue == cudaErrorInvalidValue);
static_assert(kMemoryAllocation == cudaErrorMemoryAllocation && kNotReady == cudaErrorNotReady);
static_assert(kCallRequiresNewerDriver == cudaErrorCallRequiresNewerDriver && kNotSupported == cudaErrorNotSupported);
static_assert(kStreamNonBlocking == cudaStreamNonBlocking && kEventDisableTiming == cudaEventDisableTiming);
static_assert(kHostRegisterPortable == cudaHostRegisterPortable && kMemcpyDefault == cudaMemcpyDefault);
static_assert(kCaptureModeRelaxed == cudaStreamCaptureModeRelaxed);
static_assert(kNotCapturing == cudaStreamCaptureStatusNone && kCaptureImplicit == cudaErrorStreamCaptureImplicit);
#if CUDART_VERSION >= 12080
static_assert(kSourceInStreamOrder == cudaMemcpySrcAccessOrderStream);
static_assert(kLocationDevice == cudaMemLocationTypeDevice && kLocationHost == cudaMemLocationTypeHost);
static_assert(sizeof(CopyAttributes) == sizeof(cudaMemcpyAttributes) && sizeof(Location) == sizeof(cudaMemLocation));
static_assert(offsetof(CopyAttributes, source) == offsetof(cudaMemcpyAttributes, srcLocHint));
static_assert(offsetof(CopyAttributes, destination) == offsetof(cudaMemcpyAttributes, dstLocHint));
static_assert(offsetof(CopyAttributes, flags) == offsetof(cudaMemcpyAttributes, flags));
#if CUDART_VERSION >= 13000
static_assert(Same<Batch13, decltype(::cudaMemcpyBatchAsync)>::value);
#else
static_assert(Same<Batch12, decltype(::cudaMemcpyBatchAsync)>::value);
#endif
#endif

static_assert(Same<ModuleLoadData, decltype(::cuModuleLoadData)>::value);
static_assert(Same<ModuleGetFunction, decltype(::cuModuleGetFunction)>::value);
static_assert(Same<LaunchKernel, decltype(::cuLaunchKernel)>::value);
static_assert(Same<GetErrorName, decltype(::cuGetErrorName)>::value);
#if CUDART_VERSION >= 12000
static_assert(
    Same<EntryPoint, Status(const char*, void**, unsigned long long, cudaDriverEntryPointQueryResult*)>::value);
#endif

TEST(CudaApi, IsDeclaredAsInNvidiasHeaders) { SUCCEED() << "compared while compiling with " << CUDART_VERSION; }

}  // namespace
}  // namespace feedring::cudart
#else
TEST(CudaApi, IsDeclaredAsInNvidiasHeaders) { GTEST_SKIP() << "there are no CUDA headers here"; }
#endif
