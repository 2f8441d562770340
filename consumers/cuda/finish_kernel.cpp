// SPDX-License-Identifier: Apache-2.0
#include "consumers/cuda/finish_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "consumers/cuda/driver_api.hpp"

namespace feedring::cudart {
namespace {

constexpr char kProgram[] =
#include "consumers/cuda/finish.ptx.inc"
    ;
constexpr unsigned kThreads = 256;
constexpr unsigned kMaxBlocksY = 65535;
constexpr const char* kNames[] = {"feedring_finish_1", "feedring_finish_2", "feedring_finish_4"};

void* entry_point(const Context& context, const char* name) {
  const Runtime& runtime = context.runtime();
  void* found = nullptr;
  if (runtime.entry_point == nullptr || runtime.entry_point(name, &found, 0, nullptr) != kSuccess || found == nullptr) {
    runtime.cudaGetLastError();
    throw Error(ErrorKind::kRefused,
                fmt::format("{}: {} cannot be reached through this CUDA runtime ({}.{}), so that batches cannot be "
                            "finished on the device; use 11.3 or later, or finish = \"producer\"",
                            context.name(), name, runtime.version / 1000, runtime.version % 1000 / 10));
  }
  return found;
}

// Makes the device's context current for the driver too, which runtimes before 12 do with a thread's first call only.
void make_current(const Context& context) {
  if (context.runtime().version >= 12000) return;
  if (context.runtime().cudaStreamQuery(context.copies()) != kSuccess) context.runtime().cudaGetLastError();
}

std::string explain(void* error_name, DriverStatus status) {
  const char* name = nullptr;
  reinterpret_cast<GetErrorName*>(error_name)(status, &name);
  return name != nullptr ? name : fmt::format("error {} of the driver", status);
}

}  // namespace

FinishKernel::FinishKernel(const Context& context)
    : launch_(entry_point(context, "cuLaunchKernel")), error_name_(entry_point(context, "cuGetErrorName")) {
  make_current(context);
  const auto demand = [&](DriverStatus status, const char* call) {
    if (status == kDriverSuccess) return;
    throw Error(ErrorKind::kRefused, fmt::format("{}: {} failed while the finishing kernel was loaded: {}",
                                                 context.name(), call, explain(error_name_, status)));
  };
  const auto load = reinterpret_cast<ModuleLoadData*>(entry_point(context, "cuModuleLoadData"));
  const auto find = reinterpret_cast<ModuleGetFunction*>(entry_point(context, "cuModuleGetFunction"));
  void* program = nullptr;
  demand(load(&program, kProgram), "cuModuleLoadData");
  for (std::size_t i = 0; i < 3; ++i) demand(find(&functions_[i], program, kNames[i]), "cuModuleGetFunction");
}

void FinishKernel::launch(const Context& context, const FinishWork& work) const {
  if (work.images == 0 || work.pixels == 0) return;
  make_current(context);
  const void* from = work.from;
  void* to = work.to;
  const void* table = work.table;
  unsigned long long pixels = work.pixels;
  unsigned long long images = work.images;
  unsigned planar = work.planar ? 1 : 0;
  void* arguments[] = {&from, &to, &table, &pixels, &images, &planar};
  const auto across = static_cast<unsigned>(std::min<std::uint64_t>((work.pixels + kThreads - 1) / kThreads, 1 << 20));
  const auto down = static_cast<unsigned>(std::min<std::uint64_t>(work.images, kMaxBlocksY));
  const std::size_t which = work.element_bytes == 4 ? 2 : work.element_bytes - 1;
  const DriverStatus status = reinterpret_cast<LaunchKernel*>(launch_)(functions_[which], across, down, 1, kThreads, 1,
                                                                       1, 0, context.copies(), arguments, nullptr);
  if (status != kDriverSuccess) {
    throw Error(ErrorKind::kInternal, fmt::format("{}: cuLaunchKernel failed while a batch was finished: {}",
                                                  context.name(), explain(error_name_, status)));
  }
}

}  // namespace feedring::cudart
