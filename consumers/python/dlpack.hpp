// SPDX-License-Identifier: Apache-2.0
// The structures of DLPack, by which array libraries hand tensors to one another without knowing each other. The ABI is
// fixed (dmlc/dlpack, dlpack.h, version 0.x); every consumer still takes this form, and it says nothing of read-only.
#pragma once

#include <cstdint>

namespace feedring::python::dlpack {

inline constexpr std::uint8_t kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kBool = 6;

struct Device {
  std::int32_t type;  // DLDeviceType, whose numbers feedring::DeviceType has
  std::int32_t id;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t dimensions;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements
  std::uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor* self);
};
inline constexpr const char* kFresh = "dltensor";  // the capsule's name until a consumer took the tensor

}  // namespace feedring::python::dlpack
