// SPDX-License-Identifier: Apache-2.0
// Element types of tensors, and what they are called: torch's names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace feedring {

enum class Dtype : std::uint8_t {
  kUint8 = 0,
  kInt64 = 1,
  kFloat32 = 2,
  kFloat16 = 3,
  kBfloat16 = 4,
  kFloat64 = 5,
  kInt8 = 6,
  kInt16 = 7,
  kInt32 = 8,
  kBool = 9,  ///< a byte, 0 or 1
};

/// All of them: what a number in shared memory may say is below kDtypes.size().
inline constexpr std::array kDtypes{Dtype::kUint8,   Dtype::kInt64, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBfloat16,
                                    Dtype::kFloat64, Dtype::kInt8,  Dtype::kInt16,   Dtype::kInt32,   Dtype::kBool};

/// Those that the pixels of an image feed can have.
inline constexpr std::array kImageDtypes{Dtype::kUint8, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBfloat16};

constexpr std::uint32_t bytes_of(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::kUint8:
    case Dtype::kInt8:
    case Dtype::kBool: return 1;
    case Dtype::kInt16:
    case Dtype::kFloat16:
    case Dtype::kBfloat16: return 2;
    case Dtype::kInt32:
    case Dtype::kFloat32: return 4;
    case Dtype::kInt64:
    case Dtype::kFloat64: return 8;
  }
  return 0;
}

constexpr std::string_view name_of(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::kUint8: return "uint8";
    case Dtype::kInt64: return "int64";
    case Dtype::kFloat32: return "float32";
    case Dtype::kFloat16: return "float16";
    case Dtype::kBfloat16: return "bfloat16";
    case Dtype::kFloat64: return "float64";
    case Dtype::kInt8: return "int8";
    case Dtype::kInt16: return "int16";
    case Dtype::kInt32: return "int32";
    case Dtype::kBool: return "bool";
  }
  return "?";
}

}  // namespace feedring
