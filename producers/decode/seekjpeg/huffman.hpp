// SPDX-License-Identifier: Apache-2.0
// Huffman codes as look-up tables: the next eleven bits give one or two whole symbols, values and all.
#pragma once

#include <array>
#include <cstdint>

namespace feedring::seekjpeg {

inline constexpr int kLookBits = 11;
inline constexpr std::size_t kLooks = std::size_t{1} << kLookBits;
inline constexpr int kMaxDcBits = 11;  // of a difference's value, by the standard for 8 bit; more is left to libjpeg
inline constexpr int kMaxAcBits = 10;

/// What the short way does not know: codes of any length, one at a time.
struct Codes {
  /// The first 16 bit number, left-aligned, that is no code of this length or shorter.
  std::array<std::uint32_t, 17> end{};
  /// Index of a code's symbol is its number plus this.
  std::array<std::int32_t, 17> offset{};
  std::array<std::uint8_t, 256> symbols{};

  /// False: no prefix code, or symbols that may not stand in such a table.
  bool read(const std::uint8_t* counts_and_symbols, bool is_dc);
};

/// Length of the code that `next` (16 bits) begins with, and its symbol.
struct Code {
  int length = 0;  ///< 0: none
  unsigned symbol = 0;
};
Code find_code(const Codes& codes, std::uint32_t next, int shortest = 1) noexcept;

/// The number that `bits` bits of a value stand for (ITU T.81, F.2.2.1, EXTEND).
constexpr std::int32_t extended(std::uint32_t value, int bits) noexcept {
  return bits == 0 || value >> (bits - 1) != 0 ? static_cast<std::int32_t>(value)
                                               : static_cast<std::int32_t>(value) - (1 << bits) + 1;
}

/// A difference of DC: 4 bits of length, code and value together, and above them the value. Where the length is 0: 5
/// bits of the code's length, and above them that of the value; or 0 altogether, where the code is longer than a look.
struct DcTable {
  std::array<std::uint16_t, kLooks> look;
  Codes codes;
  bool build(const std::uint8_t* counts_and_symbols);
};

/// One symbol of AC, or two, or one and the end of the block. From the lowest bit:
///   6 bits  length of all of it, 0: not in here
///   4 bits  zeros before the first value
///   6 bits  coefficients in all; kToEnd: the block ends
///   8 bits  the last value (where there is one symbol, the first once more; at an end 0)
///   8 bits  the first value
/// Not in here: 8 bits of 0, the length of the code, its symbol; or 0 altogether, where the code is longer than a look.
struct AcTable {
  std::array<std::uint32_t, kLooks> look;
  Codes codes;
  bool build(const std::uint8_t* counts_and_symbols);
};
inline constexpr std::uint32_t kToEnd = 63;

}  // namespace feedring::seekjpeg
