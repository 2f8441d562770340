// SPDX-License-Identifier: Apache-2.0
// The step of a model that is not here: short kernels, one after the other, that keep half of the thread slots of an
// H200 busy and look at the clock until their time is over. It takes as long as it is told whatever else the GPU does,
// so it shows whether batches come in time and whether the host keeps the stream filled. It does not show what copies
// and kernels take from a real step's memory and arithmetic.
#pragma once

#include <cstdint>
#include <feedring/device.hpp>
#include <feedring/error.hpp>
#include <string>

#include "consumers/cuda/driver_api.hpp"
#include "consumers/cuda/runtime.hpp"

namespace feedring::bench {

class SpinStep {
 public:
  /// `ms` for all launches together. On a thread whose current device has been used. Throws Error(kRefused).
  SpinStep(const cudart::Runtime& runtime, double ms, unsigned launches)
      : launch_(find<cudart::LaunchKernel>(runtime, "cuLaunchKernel")),
        ns_(static_cast<std::uint64_t>(ms * 1e6 / launches)),
        launches_(launches) {
    void* program = nullptr;
    demand(find<cudart::ModuleLoadData>(runtime, "cuModuleLoadData")(&program, kProgram), "cuModuleLoadData");
    demand(find<cudart::ModuleGetFunction>(runtime, "cuModuleGetFunction")(&function_, program, "feedring_spin"),
           "cuModuleGetFunction");
  }

  void put_on(StreamHandle stream) const {
    std::uint64_t ns = ns_;
    void* arguments[] = {&ns};
    for (unsigned i = 0; i < launches_; ++i)
      demand(launch_(function_, kBlocks, 1, 1, kThreads, 1, 1, 0, stream, arguments, nullptr), "cuLaunchKernel");
  }

 private:
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBlocks = 132 * 4;  // multiprocessors x (2048 threads of each / 256 / 2)
  static constexpr char kProgram[] = R"(
.version 6.3
.target sm_75
.address_size 64
.visible .entry feedring_spin(.param .u64 ns) {
  .reg .pred %on;
  .reg .u64 %want, %begin, %now, %gone;
  ld.param.u64 %want, [ns];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %gone, %now, %begin;
  setp.lt.u64 %on, %gone, %want;
  @%on bra again;
  ret;
}
)";

  template <class Call>
  static Call* find(const cudart::Runtime& runtime, const char* name) {
    void* found = nullptr;
    if (runtime.entry_point == nullptr || runtime.entry_point(name, &found, 0, nullptr) != cudart::kSuccess ||
        found == nullptr) {
      throw Error(ErrorKind::kRefused, std::string(name) + " cannot be reached through " + runtime.path);
    }
    return reinterpret_cast<Call*>(found);
  }
  static void demand(cudart::DriverStatus status, const char* call) {
    if (status != cudart::kDriverSuccess)
      throw Error(ErrorKind::kInternal, std::string(call) + " gave the driver's error " + std::to_string(status));
  }

  cudart::LaunchKernel* launch_;
  void* function_ = nullptr;
  std::uint64_t ns_;
  unsigned launches_;
};

}  // namespace feedring::bench
