// SPDX-License-Identifier: Apache-2.0
// The kinds of device that the tests try.
#pragma once

#include <chrono>
#include <feedring/cuda.hpp>

#include "tests/device/device_conformance.hpp"
#include "tests/device/fake_cudart.hpp"

namespace feedring::test {

inline MakeDevice host(const std::string& name, const HostDeviceOptions& options) {
  return {name, [options] { return host_device(options); }};
}
inline MakeDevice host_that_copies(const std::string& name, std::chrono::nanoseconds delay, std::uint64_t seed = 0) {
  return host(name, {.delay = delay, .delay_seed = seed, .copies = true});
}
inline MakeDevice fake_cuda() {
  return {"fake", [] { return cuda("cuda:0", FakeCudart::options()); }};
}
inline MakeDevice real_cuda() {
  return {"gpu", [] { return cuda("cuda:0"); }, [] { return why_no_cuda(); }};
}

}  // namespace feedring::test
