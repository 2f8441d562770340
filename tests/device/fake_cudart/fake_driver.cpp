// SPDX-License-Identifier: Apache-2.0
// The part of NVIDIA's driver that the stand-in has: it "translates" feedring's own kernels by looking its name up
// among the same kernels compiled for the CPU from the same source, and runs those on its streams. Block x thread is
// flattened to blocks of one thread, for which the kernel's barrier means nothing.
#include "tests/device/fake_cudart/fake_driver.hpp"

#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

namespace {
struct Dim {
  unsigned x = 1, y = 1, z = 1;
};
// One kernel at a time, by this lock: what is a block's own on a GPU is the program's here.
std::mutex running;
Dim threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim, gridDim;
void __syncthreads() {}
}  // namespace
#define __global__
#define __device__
#define __shared__ static
#include "consumers/cuda/finish.cu"

namespace feedring::test {
namespace {

constexpr const char* kNames[] = {"feedring_finish_1", "feedring_finish_2", "feedring_finish_4"};
constexpr char kModule = 0;                     // its address stands for the module, those of the names for functions
constexpr const char* kSpin = "feedring_spin";  // the step of bench/gpu_step.hpp; a module of its own
constexpr char kSpinModule = 0;
constexpr int kInvalid = 1;
constexpr int kNotFound = 500;

int module_load(void** module, const void* image) {
  const char* text = static_cast<const char*>(image);
  if (std::strstr(text, ".version") == nullptr) return kInvalid;
  if (std::strstr(text, kSpin) != nullptr) {
    *module = const_cast<char*>(&kSpinModule);
    return 0;
  }
  for (const char* name : kNames)
    if (std::strstr(text, name) == nullptr) return kInvalid;
  *module = const_cast<char*>(&kModule);
  return 0;
}
int module_get_function(void** function, void* module, const char* name) {
  if (module == &kSpinModule && std::strcmp(kSpin, name) == 0) {
    *function = const_cast<const char**>(&kSpin);
    return 0;
  }
  for (const auto& known : kNames) {
    if (module == &kModule && std::strcmp(known, name) == 0) {
      *function = const_cast<const char**>(&known);
      return 0;
    }
  }
  return kNotFound;
}
int get_error_name(int status, const char** name) {
  *name = status == kNotFound ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int launch_kernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                  unsigned block_z, unsigned shared_bytes, void* stream, void** arguments, void** extra) {
  const bool plain = grid_z == 1 && block_y == 1 && block_z == 1 && shared_bytes == 0 && extra == nullptr;
  if (!plain || grid_x == 0 || grid_y == 0 || grid_y > 65535 || block_x == 0 || block_x > 1024) return kInvalid;
  const char* name = *static_cast<const char**>(function);
  if (name == kSpin) {
    const auto time = std::chrono::nanoseconds(*static_cast<Size*>(arguments[0]));
    return put_on_stream(stream, [time] { std::this_thread::sleep_for(time); });
  }
  // The arguments are read at the call, as the driver does; what they point to when the stream comes to it.
  const auto* from = *static_cast<const Byte**>(arguments[0]);
  void* to = *static_cast<void**>(arguments[1]);
  const auto* table = *static_cast<const unsigned**>(arguments[2]);
  const Size pixels = *static_cast<Size*>(arguments[3]);
  const Size images = *static_cast<Size*>(arguments[4]);
  const unsigned planar = *static_cast<unsigned*>(arguments[5]);
  return put_on_stream(stream, [=] {
    const std::lock_guard lock(running);
    gridDim = {grid_x * block_x, grid_y, 1};
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y) {
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
        if (blockIdx.x >= pixels) continue;  // a thread without a pixel: it would only fill the table again
        if (name == kNames[0]) feedring_finish_1(from, static_cast<Byte*>(to), table, pixels, images, planar);
        if (name == kNames[1]) feedring_finish_2(from, static_cast<unsigned short*>(to), table, pixels, images, planar);
        if (name == kNames[2]) feedring_finish_4(from, static_cast<unsigned*>(to), table, pixels, images, planar);
      }
    }
  });
}

}  // namespace

void* driver_entry_point(const char* name) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("cuModuleLoadData")) return reinterpret_cast<void*>(&module_load);
  if (is("cuModuleGetFunction")) return reinterpret_cast<void*>(&module_get_function);
  if (is("cuLaunchKernel")) return reinterpret_cast<void*>(&launch_kernel);
  if (is("cuGetErrorName")) return reinterpret_cast<void*>(&get_error_name);
  return nullptr;
}

}  // namespace feedring::test
