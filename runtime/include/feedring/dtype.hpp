// SPDX-License-Identifier: Apache-2.0
// Element types of tensors, and what they are called.
#pragma once

#include <cstdint>
#include <string_view>

namespace feedring {

enum class Dtype : std::uint8_t { kUint8 = 0, kInt64 = 1, kFloat32 = 2, kFloat16 = 3, kBfloat16 = 4 };

constexpr std::uint32_t bytes_of(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::kUint8: return 1;
    case Dtype::kInt64: return 8;
    case Dtype::kFloat32: return 4;
    case Dtype::kFloat16:
    case Dtype::kBfloat16: return 2;
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
  }
  return "?";
}

}  // namespace feedring
