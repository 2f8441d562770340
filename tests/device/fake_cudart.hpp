// SPDX-License-Identifier: Apache-2.0
// The stand-in for libcudart (fake_cudart/fake_cudart.cpp) as tests set and ask it. Evidence about our calls, not about
// hardware.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <feedring/cuda.hpp>
#include <map>
#include <string>
#include <utility>

namespace feedring::test {

class FakeCudart {
 public:
  /// By name without "FAKE_CUDART_"; what is not named is as by default.
  using Settings = std::map<std::string, std::string>;

  explicit FakeCudart(Settings settings = {}) : settings_(std::move(settings)) {
    for (const auto& [name, value] : settings_) ::setenv(("FAKE_CUDART_" + name).c_str(), value.c_str(), 1);
    call<void()>("fake_cudart_reload")();
  }
  FakeCudart(const FakeCudart&) = delete;
  FakeCudart& operator=(const FakeCudart&) = delete;
  ~FakeCudart() {
    for (const auto& [name, value] : settings_) ::unsetenv(("FAKE_CUDART_" + name).c_str());
    call<void()>("fake_cudart_reload")();
  }

  [[nodiscard]] static std::string path() { return FEEDRING_FAKE_CUDART; }
  [[nodiscard]] static CudaOptions options() { return {.runtime = path()}; }
  /// The same library under a path that was not used before: its version, which is read once a path, is read again.
  [[nodiscard]] static CudaOptions options_anew() {
    static std::string detour;
    detour += "/.";
    const std::size_t name = path().rfind('/');
    return {.runtime = path().substr(0, name) + detour + path().substr(name)};
  }
  [[nodiscard]] static long count(const char* what) { return call<long(const char*)>("fake_cudart_count")(what); }
  /// What the calling thread's next cudaGetLastError would say.
  [[nodiscard]] static int last_error() { return call<int()>("cudaPeekAtLastError")(); }
  static int set_device(int index) { return call<int(int)>("cudaSetDevice")(index); }

  template <class Function>
  [[nodiscard]] static Function* call(const char* name) {
    static void* library = ::dlopen(FEEDRING_FAKE_CUDART, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Function*>(::dlsym(library, name));
  }

 private:
  Settings settings_;
};

}  // namespace feedring::test
