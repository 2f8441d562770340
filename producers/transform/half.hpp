// SPDX-License-Identifier: Apache-2.0
// float <-> the two 16 bit formats of tensors: float16 (IEEE 754 binary16) and bfloat16 (the upper half of binary32).
// To 16 bits: to nearest, ties to even, as PyTorch converts.
#pragma once

#include <bit>
#include <cstdint>

namespace feedring {

[[nodiscard]] constexpr std::uint16_t bfloat16_of(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);  // NaN stays one
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

[[nodiscard]] constexpr float float_of_bfloat16(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

[[nodiscard]] constexpr std::uint16_t float16_of(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<std::uint16_t>(sign | 0x7E00);   // NaN
  if (magnitude >= 0x477FF000) return static_cast<std::uint16_t>(sign | 0x7C00);  // rounds to 65536 or more: infinity
  if (magnitude < 0x38800000) {
    // Below 2^-14 the steps are 2^-24. Adding 0.5, whose own step that is, rounds to them and leaves the count of steps
    // in the low bits of the sum.
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5F)));
  }
  // The exponent's bias falls from 127 to 15; a carry out of the rounded fraction rightly raises the exponent.
  const std::uint32_t rounded = magnitude - (112U << 23) + 0xFFF + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

[[nodiscard]] constexpr float float_of_float16(std::uint16_t bits) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1F;
  const std::uint32_t fraction = bits & 0x3FF;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace feedring
