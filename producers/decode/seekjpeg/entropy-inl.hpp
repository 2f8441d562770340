// SPDX-License-Identifier: Apache-2.0
// Blocks of coefficients, kept or only passed. The reader's state travels by value, so that it stays in registers; what
// is rare is a function of its own, which takes and returns it.
#if defined(FEEDRING_SEEKJPEG_ENTROPY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_SEEKJPEG_ENTROPY_INL
#undef FEEDRING_SEEKJPEG_ENTROPY_INL
#else
#define FEEDRING_SEEKJPEG_ENTROPY_INL
#endif

#include "producers/decode/seekjpeg/bits-inl.hpp"
#include "producers/decode/seekjpeg/header.hpp"
#include "producers/decode/seekjpeg/huffman.hpp"

HWY_BEFORE_NAMESPACE();
namespace feedring::seekjpeg::HWY_NAMESPACE {
namespace {

// A block is 64 coefficients by rows and one more, where stores behind the last one go.
constexpr std::size_t kNowhere = 64;
constexpr std::size_t kBlockRoom = 80;

/// Where the coefficients go, in the order of the file; a look may reach 62 behind the last.
constexpr std::array<std::uint8_t, 128> places() {
  std::array<std::uint8_t, 128> all{};
  for (std::size_t i = 0; i < 128; ++i) all[i] = i < 64 ? kNatural[i] : std::uint8_t{kNowhere};
  return all;
}
alignas(64) constexpr std::array<std::uint8_t, 128> kPlaces = places();
constexpr const std::uint8_t* kFirstAc = kPlaces.data() + 1;
constexpr const std::uint8_t* kBehind = kPlaces.data() + 64;

constexpr std::uint32_t length_of(std::uint32_t look) { return look & 63; }
constexpr std::uint32_t zeros_of(std::uint32_t look) { return look >> 6 & 15; }
constexpr std::uint32_t advance_of(std::uint32_t look) { return look >> 10 & 63; }
constexpr auto first_of(std::uint32_t look) { return static_cast<std::int16_t>(static_cast<std::int32_t>(look) >> 24); }
constexpr auto last_of(std::uint32_t look) { return static_cast<std::int16_t>(static_cast<std::int8_t>(look >> 16)); }
constexpr std::uint32_t kWasLong = 1;  // in place of a look: the block is over, by a symbol that was in none

/// The value that the next `size` bits stand for, 0 to 11 (ITU T.81, F.2.2.1, EXTEND): one that begins with a 0 is
/// negative, itself less 2^size - 1.
HWY_INLINE std::int32_t take_value(Bits& bits, unsigned size) {
  const auto value = static_cast<std::uint32_t>(bits.window >> 1 >> (63 - size));
  const auto negative = static_cast<std::uint32_t>(static_cast<std::int64_t>(~bits.window) >> 63);
  drop(bits, size);
  return static_cast<std::int32_t>(value + (negative & (1 - (1U << size))));
}

/// A code of DC longer than a look, in the form of an entry of DcTable that has no value.
HWY_NOINLINE std::uint32_t long_dc(const Codes& codes, std::uint64_t window, bool& broken) {
  const Code code = find_code(codes, static_cast<std::uint32_t>(window >> 48), kLookBits + 1);
  if (code.length == 0) broken = true;
  return static_cast<std::uint32_t>(code.length) << 4 | code.symbol << 9;
}

/// A code longer than a look, in the form of an entry of AcTable that is not in there.
HWY_NOINLINE std::uint32_t long_ac(const Codes& codes, std::uint64_t window) {
  const Code code = find_code(codes, static_cast<std::uint32_t>(window >> 48), kLookBits + 1);
  return static_cast<std::uint32_t>(code.length) << 8 | code.symbol << 16;
}

/// The rest of a block from the coefficient `at`, a symbol at a time: where two that were looked up together belong to
/// two blocks, and where something is wrong. Gives the place of the last coefficient, or nullptr.
HWY_NOINLINE const std::uint8_t* careful(Bits& bits, const AcTable& ac, std::int16_t* to, const std::uint8_t* at,
                                         bool& broken) {
  while (at < kBehind) {
    fill(bits);
    const Code code = find_code(ac.codes, static_cast<std::uint32_t>(bits.window >> 48));
    if (code.length == 0) break;
    drop(bits, static_cast<std::uint64_t>(code.length));
    const unsigned size = code.symbol & 15;
    const unsigned zeros = code.symbol >> 4;
    if (size == 0 && zeros != 15) return at - 1;
    at += zeros;
    if (at >= kBehind) break;
    if (size != 0) {
      const std::int32_t value = take_value(bits, size);
      if (to != nullptr) to[*at] = static_cast<std::int16_t>(value);
    }
    if (++at == kBehind) return at - 1;
  }
  broken = true;
  return at;
}

/// Looks up until the block is over or something is odd, and gives the look that did it; `at` has moved on by it.
template <bool kKeep>
HWY_INLINE std::uint32_t walk(Bits& bits, const AcTable& ac, std::int16_t* to, const std::uint8_t*& at, bool& broken) {
  for (;; fill(bits)) {
    std::uint32_t look = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      look = ac.look[bits.window >> (64 - kLookBits)];
      if (HWY_UNLIKELY(length_of(look) == 0)) break;
      drop(bits, look);
      const std::uint32_t advance = advance_of(look);
      if constexpr (kKeep) {
        to[at[advance - 1]] = last_of(look);
        to[at[zeros_of(look)]] = first_of(look);
      }
      at += advance;
      if (at >= kBehind) return look;
    }
    if (HWY_LIKELY(length_of(look) != 0)) continue;
    fill(bits);
    if (look == 0) look = long_ac(ac.codes, bits.window);
    drop(bits, look >> 8 & 31);
    const unsigned symbol = look >> 16 & 255;
    const unsigned size = symbol & 15;
    const bool ends = size == 0 && symbol != 0xf0;
    at += ends ? 0 : symbol >> 4;
    if (HWY_UNLIKELY(ends || at >= kBehind || (look >> 8 & 31) == 0)) {
      if (!ends || (look >> 8 & 31) == 0) broken = true;
      at = kBehind;
      return kWasLong;
    }
    if (size != 0) {
      const std::int32_t value = take_value(bits, size);
      if constexpr (kKeep) to[*at] = static_cast<std::int16_t>(value);
    }
    if (++at == kBehind) return kWasLong;
  }
}

/// One block. `difference` is that of DC; gives the place of its last coefficient in the order of the file, or a later
/// one. `broken` is only ever set.
template <bool kKeep>
HWY_INLINE unsigned read_block(Bits& bits, const DcTable& dc, const AcTable& ac, const std::uint8_t* base,
                               std::int16_t* to, std::int32_t& difference, bool& broken) {
  fill(bits);
  std::uint32_t dc_look = dc.look[bits.window >> (64 - kLookBits)];
  if (HWY_LIKELY((dc_look & 15) != 0)) {
    drop(bits, dc_look & 15);
    difference = static_cast<std::int16_t>(dc_look) >> 4;
  } else {
    if (HWY_UNLIKELY(dc_look == 0)) dc_look = long_dc(dc.codes, bits.window, broken);
    drop(bits, dc_look >> 4 & 31);
    difference = take_value(bits, dc_look >> 9);
    fill(bits);
  }
  const std::uint8_t* at = kFirstAc;
  const std::uint32_t look = walk<kKeep>(bits, ac, to, at, broken);
  const std::uint32_t advance = advance_of(look);
  if (HWY_LIKELY(advance == kToEnd)) {
    const std::uint8_t* before = at - kToEnd;
    // The block ended, unless its last coefficient came first.
    if (HWY_LIKELY(before + zeros_of(look) < kBehind - 1)) {
      return static_cast<unsigned>(before - kFirstAc) + (look >> 24 != 0 ? zeros_of(look) + 1 : 0);
    }
  } else if (at == kBehind) {
    return 63;
  }
  Bits again = bits_at(base, position(bits, base) - length_of(look));
  const std::uint8_t* last = careful(again, ac, kKeep ? to : nullptr, at - advance, broken);
  bits = again;
  return static_cast<unsigned>(last - kPlaces.data());
}

}  // namespace
}  // namespace feedring::seekjpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
