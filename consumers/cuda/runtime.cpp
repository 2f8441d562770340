// SPDX-License-Identifier: Apache-2.0
#include "consumers/cuda/runtime.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <feedring/error.hpp>
#include <map>
#include <memory>
#include <mutex>

namespace feedring::cudart {
namespace {

constexpr const char* kNames[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"};

void* open_any() {
  for (const int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW | RTLD_LOCAL}) {
    for (const char* name : kNames) {
      if (void* library = ::dlopen(name, flags)) return library;
    }
  }
  throw Error(
      ErrorKind::kRefused,
      fmt::format("no CUDA runtime was found: none is loaded, and the system has none of {}; install it, or name "
                  "its path",
                  fmt::join(kNames, ", ")));
}

void* open_this(const std::string& path) {
  if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const char* why = ::dlerror();
  throw Error(ErrorKind::kRefused, fmt::format("the CUDA runtime cannot be loaded: {}", why != nullptr ? why : path));
}

void* find(void* library, const char* name) {
  if (void* symbol = ::dlsym(library, name)) return symbol;
  throw Error(ErrorKind::kRefused,
              fmt::format("the CUDA runtime that was found has no {}; feedring needs 11.0 or later", name));
}

std::unique_ptr<Runtime> read(void* library) {
  auto runtime = std::make_unique<Runtime>();
#define FEEDRING_FIND(name, ...) runtime->name = reinterpret_cast<decltype(runtime->name)>(find(library, #name));
  FEEDRING_CUDART_CALLS(FEEDRING_FIND)
#undef FEEDRING_FIND
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void*>(runtime->cudaGetErrorName), &where) != 0) runtime->path = where.dli_fname;
  if (runtime->cudaRuntimeGetVersion(&runtime->version) != kSuccess) runtime->version = 0;
  runtime->entry_point = reinterpret_cast<EntryPoint*>(::dlsym(library, "cudaGetDriverEntryPoint"));
  void* batch = ::dlsym(library, "cudaMemcpyBatchAsync");
  if (batch == nullptr || runtime->version < kBatchSince) return runtime;
  if (runtime->version >= kBatchWithoutFailIndexSince) {
    runtime->batch_13 = reinterpret_cast<Batch13*>(batch);
  } else {
    runtime->batch_12 = reinterpret_cast<Batch12*>(batch);
  }
  return runtime;
}

}  // namespace

std::string Runtime::explain(Status status) const {
  cudaGetLastError();
  const char* name = cudaGetErrorName(status);
  const char* text = cudaGetErrorString(status);
  return fmt::format("{} ({})", name != nullptr ? name : "an unknown error", text != nullptr ? text : "no text");
}

const Runtime& load_runtime(const std::string& path) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<Runtime>>;  // libraries stay as well
  const std::lock_guard lock(mutex);
  auto& runtime = loaded[path];
  if (!runtime) runtime = read(path.empty() ? open_any() : open_this(path));
  return *runtime;
}

}  // namespace feedring::cudart
