// SPDX-License-Identifier: Apache-2.0
// The bits of a scan: taking out the stuffing, and reading. Compiled once for each instruction set.
#if defined(FEEDRING_SEEKJPEG_BITS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_SEEKJPEG_BITS_INL
#undef FEEDRING_SEEKJPEG_BITS_INL
#else
#define FEEDRING_SEEKJPEG_BITS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace feedring::seekjpeg::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// What one unit can take: six blocks of one code of DC and 63 of AC, each with its value; and how far a look reads on.
constexpr std::size_t kUnitBytes = 6 * (27 + 63 * 26) / 8 + 64;

/// Copies a scan without the zeros that follow its bytes of ones, a piece at a time, so that a crop that ends early
/// does not pay for the rest. The end is the first marker, or that of the file.
struct Source {
  const std::uint8_t* from;
  const std::uint8_t* from_end;
  std::uint8_t* base;
  std::uint8_t* to;
  bool ended;

  void more() {
    constexpr std::size_t kPiece = 8192;
    const std::uint8_t* stop = from + std::min(kPiece, static_cast<std::size_t>(from_end - from));
    const hn::CappedTag<std::uint8_t, 32> d;
    const auto ones = hn::Set(d, std::uint8_t{255});
    while (from < stop && !ended) {
      if (static_cast<std::size_t>(from_end - from) >= hn::Lanes(d)) {
        const auto bytes = hn::LoadU(d, from);
        hn::StoreU(bytes, d, to);
        const auto found = hn::FindFirstTrue(d, hn::Eq(bytes, ones));
        const std::size_t plain = found < 0 ? hn::Lanes(d) : static_cast<std::size_t>(found);
        from += plain;
        to += plain;
        if (found < 0) continue;
      }
      if (*from != 0xff) {
        *to++ = *from++;
      } else if (from_end - from >= 2 && from[1] == 0) {
        *to++ = 0xff;
        from += 2;
      } else {
        ended = true;
      }
    }
    if (from == from_end) ended = true;
    if (ended) std::memset(to, 0, kUnitBytes + 64);
  }
};

/// How many bytes are 255.
HWY_INLINE std::size_t count_ones(const std::uint8_t* from, std::size_t size) {
  const hn::CappedTag<std::uint8_t, 32> d;
  const auto ones = hn::Set(d, std::uint8_t{255});
  std::size_t found = 0;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += hn::Lanes(d)) found += hn::CountTrue(d, hn::Eq(hn::LoadU(d, from + i), ones));
  for (; i < size; ++i) found += from[i] == 255 ? 1 : 0;
  return found;
}

/// The next bits, left-aligned, and how many of them are sure: the lower six bits of `count`, what is above has no
/// meaning. So what a shift ignores anyway need not be cut off before, which matters in the chain of a look-up: each
/// waits for the length that the one before it found.
struct Bits {
  const std::uint8_t* at;
  std::uint64_t window;  // below the sure bits 0 or right
  std::uint64_t count;
};

/// At least 56 bits.
HWY_INLINE void fill(Bits& bits) {
  std::uint64_t next;
  std::memcpy(&next, bits.at, sizeof next);
  bits.window |= __builtin_bswap64(next) >> (bits.count & 63);
  bits.at += (~bits.count & 63) >> 3;
  bits.count |= 56;
}

/// Lets the number of bits go that the lower six bits of `n` say.
HWY_INLINE void drop(Bits& bits, std::uint64_t n) {
  bits.window <<= n & 63;
  bits.count -= n;
}

/// From a position on, in bits.
HWY_INLINE Bits bits_at(const std::uint8_t* base, std::uint64_t position) {
  std::uint64_t next;
  std::memcpy(&next, base + position / 8, sizeof next);
  return {base + position / 8 + 7, __builtin_bswap64(next) << (position % 8), 56 - position % 8};
}

HWY_INLINE std::uint64_t position(const Bits& bits, const std::uint8_t* base) {
  return static_cast<std::uint64_t>(bits.at - base) * 8 - (bits.count & 63);
}

}  // namespace
}  // namespace feedring::seekjpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
