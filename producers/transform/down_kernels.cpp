// SPDX-License-Identifier: Apache-2.0
// Columns: the vertical pass.
#include "producers/transform/resample_kernels.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/transform/down_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

#include "producers/transform/pixels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

#if FEEDRING_PIXEL_VECTORS

// The sums of one vector of columns, as four vectors of 32 bit: within each block its first to fourth quarter.
struct ColumnSums {
  Sum first, second, third, fourth;

  HWY_INLINE void start() {
    first.start();
    second.start();
    third.start();
    fourth.start();
  }
  HWY_INLINE void add(V8 upper, V8 lower, V32 high, V32 low) {
    const V8 zero = hn::Zero(d8);
    const V8 left = hn::InterleaveLower(d8, upper, lower);
    const V8 right = hn::InterleaveUpper(d8, upper, lower);
    first.add(hn::InterleaveLower(d8, left, zero), high, low);
    second.add(hn::InterleaveUpper(d8, left, zero), high, low);
    third.add(hn::InterleaveLower(d8, right, zero), high, low);
    fourth.add(hn::InterleaveUpper(d8, right, zero), high, low);
  }
  [[nodiscard]] HWY_INLINE V8 rounded() const {
    return pack(first.rounded(), second.rounded(), third.rounded(), fourth.rounded());
  }
};

// kPairs 0: any number.
template <int kPairs>
HWY_INLINE V8 columns(const std::uint8_t* const* rows, std::size_t i, const std::int32_t* words, std::size_t stride,
                      std::int32_t pairs) {
  ColumnSums sums;
  sums.start();
  const std::size_t count = kPairs != 0 ? kPairs : static_cast<std::size_t>(pairs);
#pragma GCC unroll 6
  for (std::size_t p = 0; p < count; ++p) {
    sums.add(hn::LoadU(d8, rows[2 * p] + i), hn::LoadU(d8, rows[2 * p + 1] + i), weight(words, stride, 2 * p),
             weight(words, stride, 2 * p + 1));
  }
  return sums.rounded();
}

template <int kPairs>
void down_row(const std::uint8_t* const* rows, const std::int32_t* words, std::size_t stride, std::int32_t pairs,
              std::uint8_t* out, std::size_t bytes) {
  constexpr std::size_t kLanes = hn::MaxLanes(d8);
  std::size_t i = 0;
  for (; i + kLanes <= bytes; i += kLanes) hn::StoreU(columns<kPairs>(rows, i, words, stride, pairs), d8, out + i);
  if (i == bytes) return;
  if (bytes >= kLanes) {  // the last whole vector again, rather than bytes behind the row
    i = bytes - kLanes;
    hn::StoreU(columns<kPairs>(rows, i, words, stride, pairs), d8, out + i);
  } else {
    HWY_ALIGN std::uint8_t last[kLanes];
    hn::Store(columns<kPairs>(rows, 0, words, stride, pairs), d8, last);
    std::memcpy(out, last, bytes);
  }
}

void Down(const std::uint8_t* const* rows, const std::int32_t* words, std::size_t stride, std::int32_t pairs,
          std::uint8_t* out, std::size_t bytes) {
  const auto with = [&](auto* run) { run(rows, words, stride, pairs, out, bytes); };
  switch (pairs) {
    case 1: return with(down_row<1>);
    case 2: return with(down_row<2>);
    case 3: return with(down_row<3>);
    case 4: return with(down_row<4>);
    case 5: return with(down_row<5>);
    case 6: return with(down_row<6>);
    default: return with(down_row<0>);
  }
}

#else

void Down(const std::uint8_t* const* rows, const std::int32_t* words, std::size_t stride, std::int32_t pairs,
          std::uint8_t* out, std::size_t bytes) {
  constexpr std::size_t kColumns = 64;  // a length that the compiler knows, so that it can vectorise
  for (std::size_t i = 0; i < bytes; i += kColumns) {
    std::int32_t sums[kColumns];
    for (std::int32_t& sum : sums) sum = kHalf;
    for (std::int32_t t = 0; t < 2 * pairs; ++t) {
      const std::int32_t weight = weight_at(words, stride, t);
      const std::uint8_t* row = rows[t] + i;
      for (std::size_t c = 0; c < kColumns; ++c) sums[c] += row[c] * weight;
    }
    for (std::size_t c = 0; c < std::min(kColumns, bytes - i); ++c) out[i + c] = clip(sums[c]);
  }
}

#endif

const char* InstructionSet() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::kernels {

HWY_EXPORT(Down);
HWY_EXPORT(InstructionSet);

void down(const std::uint8_t* const* rows, const std::int32_t* words, std::size_t stride, std::int32_t pairs,
          std::uint8_t* out, std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(Down)(rows, words, stride, pairs, out, bytes);
}

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(InstructionSet)(); }

}  // namespace feedring::kernels
#endif  // HWY_ONCE
