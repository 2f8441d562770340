// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/seekjpeg/huffman.hpp"

#include <algorithm>
#include <cstring>

namespace feedring::seekjpeg {
namespace {

/// Calls `put(code, length, symbol)` for each code of up to kLookBits.
template <class Put>
void for_short_codes(const std::uint8_t* counts, Put put) {
  const std::uint8_t* symbol = counts + 16;
  std::uint32_t code = 0;
  for (int length = 1; length <= kLookBits; ++length, code <<= 1) {
    for (int i = 0; i < counts[length - 1]; ++i) put(code++, length, unsigned{*symbol++});
  }
}

// The parts of an entry of AcTable.
constexpr std::uint32_t entry(int length, unsigned zeros, std::uint32_t advance, std::int32_t first,
                              std::int32_t last) {
  return static_cast<std::uint32_t>(length) | zeros << 6 | advance << 10 |
         (static_cast<std::uint32_t>(last) & 255) << 16 | static_cast<std::uint32_t>(first) << 24;
}
constexpr std::uint32_t length_of(std::uint32_t look) { return look & 63; }
constexpr std::uint32_t advance_of(std::uint32_t look) { return look >> 10 & 63; }

constexpr std::uint32_t left_out(int length, unsigned symbol) {
  return static_cast<std::uint32_t>(length) << 8 | symbol << 16;
}

using Looks = std::array<std::uint32_t, kLooks>;

/// Entries of one symbol each.
void put_singles(const std::uint8_t* counts, Looks& look) {
  look.fill(0);
  for_short_codes(counts, [&](std::uint32_t code, int length, unsigned symbol) {
    const int bits = static_cast<int>(symbol & 15);
    const unsigned zeros = symbol >> 4;
    std::uint32_t* to = look.data() + (std::size_t{code} << (kLookBits - length));
    const std::size_t entries = std::size_t{1} << (kLookBits - length);
    if (bits == 0) {
      std::fill_n(to, entries, zeros == 15 ? entry(length, 15, 16, 0, 0) : entry(length, 0, kToEnd, 0, 0));
    } else if (length + bits > kLookBits || bits > 7) {
      std::fill_n(to, entries, left_out(length, symbol));
    } else {
      const std::size_t each = entries >> bits;
      for (std::uint32_t value = 0; value < 1U << bits; ++value) {
        const std::int32_t number = extended(value, bits);
        std::fill_n(to + value * each, each, entry(length + bits, zeros, zeros + 1, number, number));
      }
    }
  });
}

/// `first` followed by what the bits behind it hold.
std::uint32_t joined(std::uint32_t first, std::uint32_t second) {
  const std::uint32_t advance = advance_of(second) == kToEnd ? kToEnd : advance_of(first) + advance_of(second);
  return (first & 0xff0003c0U) | (length_of(first) + length_of(second)) | advance << 10 | (second & 0xff0000U);
}

}  // namespace

bool Codes::read(const std::uint8_t* counts_and_symbols, bool is_dc) {
  std::uint32_t code = 0;
  std::int32_t index = 0;
  for (std::size_t length = 1; length <= 16; ++length, code <<= 1) {
    offset[length] = index - static_cast<std::int32_t>(code);
    code += counts_and_symbols[length - 1];
    index += counts_and_symbols[length - 1];
    if (code >= 1U << length) return false;  // too many, or the one of ones alone, which is none
    end[length] = code << (16 - length);
  }
  const std::uint8_t* from = counts_and_symbols + 16;
  std::copy_n(from, index, symbols.begin());
  return std::all_of(from, from + index,
                     [&](std::uint8_t symbol) { return is_dc ? symbol <= kMaxDcBits : (symbol & 15) <= kMaxAcBits; });
}

Code find_code(const Codes& codes, std::uint32_t next, int shortest) noexcept {
  for (int length = shortest; length <= 16; ++length) {
    const auto at = static_cast<std::size_t>(length);
    if (next >= codes.end[at]) continue;
    const std::int32_t index = static_cast<std::int32_t>(next >> (16 - length)) + codes.offset[at];
    return {length, codes.symbols[static_cast<std::size_t>(index)]};
  }
  return {};
}

bool DcTable::build(const std::uint8_t* counts_and_symbols) {
  if (!codes.read(counts_and_symbols, true)) return false;
  look.fill(0);
  for_short_codes(counts_and_symbols, [&](std::uint32_t code, int length, unsigned symbol) {
    const int bits = static_cast<int>(symbol);
    std::uint16_t* to = look.data() + (std::size_t{code} << (kLookBits - length));
    if (length + bits > kLookBits) {
      std::fill_n(to, std::size_t{1} << (kLookBits - length), static_cast<std::uint16_t>(length << 4 | bits << 9));
      return;
    }
    const std::size_t each = std::size_t{1} << (kLookBits - length - bits);
    for (std::uint32_t value = 0; value < 1U << bits; ++value, to += each) {
      std::fill_n(to, each, static_cast<std::uint16_t>(extended(value, bits) * 16 + length + bits));
    }
  });
  return true;
}

bool AcTable::build(const std::uint8_t* counts_and_symbols) {
  if (!codes.read(counts_and_symbols, false)) return false;
  Looks single;
  put_singles(counts_and_symbols, single);
  for (std::size_t i = 0; i < kLooks;) {
    const std::uint32_t first = single[i];
    const std::uint32_t length = length_of(first);
    // All entries that begin like this one, a run of them.
    const std::size_t rest = length == 0 ? 0 : kLookBits - length;
    const std::size_t count = std::size_t{1} << rest;
    if (length == 0 || advance_of(first) == kToEnd || rest < 2) {
      for (std::size_t j = 0; j < count; ++j) look[i + j] = first;
    } else {
      for (std::size_t j = 0; j < count; ++j) {
        const std::uint32_t second = single[j << length];
        look[i + j] = length_of(second) - 1U < rest ? joined(first, second) : first;
      }
    }
    i += count;
  }
  return true;
}

}  // namespace feedring::seekjpeg
