// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/copy_kernels.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/transform/copy_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLine = 64;
// Lines at once, from places far apart: a load that waits for memory leaves the others to go on.
constexpr std::size_t kPlaces = 4;

template <bool kPastCaches>
void CopyLines(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to) {
  const hn::CappedTag<std::uint8_t, kLine> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t before = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, before);
  from += before;
  to += before;
  bytes -= before;
  const std::size_t part = bytes / kPlaces / kLine * kLine;
  for (std::size_t at = 0; at < part; at += kLine) {
    for (std::size_t place = at; place < kPlaces * part; place += part) {
      for (std::size_t i = place; i < place + kLine; i += lanes) {
        const auto part_of_line = hn::LoadU(d, from + i);
        if constexpr (kPastCaches) {
          hn::Stream(part_of_line, d, to + i);
        } else {
          hn::Store(part_of_line, d, to + i);
        }
      }
    }
  }
  std::memcpy(to + kPlaces * part, from + kPlaces * part, bytes - kPlaces * part);
  // On x86 a store past the caches may be seen after a release store that follows it (Intel's manual, volume
  // 1, 10.4.6.2).
  if constexpr (kPastCaches) hwy::FlushStream();
}

void Copy(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to, bool past_caches) {
  past_caches ? CopyLines<true>(from, bytes, to) : CopyLines<false>(from, bytes, to);
}

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::kernels {

HWY_EXPORT(Copy);

void copy(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to, bool past_caches) {
  HWY_DYNAMIC_DISPATCH(Copy)(from, bytes, to, past_caches);
}

}  // namespace feedring::kernels
#endif  // HWY_ONCE
