// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/finish_kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/transform/finish_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

#include "producers/transform/affine-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

void SplitChannels(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* red, std::uint8_t* green,
                   std::uint8_t* blue) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    hn::Vec<decltype(d)> r, g, b;
    hn::LoadInterleaved3(d, rgb + 3 * i, r, g, b);
    hn::StoreU(r, d, red + i);
    hn::StoreU(g, d, green + i);
    hn::StoreU(b, d, blue + i);
  }
  for (; i < pixels; ++i) {
    red[i] = rgb[3 * i];
    green[i] = rgb[3 * i + 1];
    blue[i] = rgb[3 * i + 2];
  }
}

#if !FEEDRING_AFFINE_VECTORS  // the tables do it

std::size_t RunAffine(const Affine& /*affine*/, const std::uint8_t* /*rgb*/, std::size_t /*pixels*/,
                      std::uint8_t* /*out*/) {
  return 0;
}

#else

// So many pixels at a time that what they become is whole cache lines, interleaved and in planes.
template <Dtype kTo>
constexpr std::size_t kRound = std::max(2 * hn::MaxLanes(f32), std::size_t{64} / bytes_of(kTo));

template <class Formula, Dtype kTo>
class Interleaved {
 public:
  HWY_INLINE explicit Interleaved(const Affine& affine)
      : first_(affine, 0, 1), second_(affine, kLanes, 1), third_(affine, 2 * kLanes, 1) {}

  HWY_INLINE void round(const std::uint8_t* rgb, std::uint8_t* out) const {
    const auto values = [&](std::size_t vector) HWY_ATTR {
      return hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<std::uint8_t, F32>(), rgb + vector * kLanes));
    };
    // After three vectors the channels come in the same lanes again.
    constexpr std::size_t kStep = 2 * kLanes * bytes_of(kTo);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kRound<kTo>; i += 2 * kLanes, rgb += 6 * kLanes, out += 3 * kStep) {
      put<kTo, Formula::kTies>(first_.of(values(0)), second_.of(values(1)), out);
      put<kTo, Formula::kTies>(third_.of(values(2)), first_.of(values(3)), out + kStep);
      put<kTo, Formula::kTies>(second_.of(values(4)), third_.of(values(5)), out + 2 * kStep);
    }
  }

 private:
  static constexpr std::size_t kLanes = hn::MaxLanes(f32);
  Formula first_, second_, third_;
};

template <class Formula, Dtype kTo>
std::size_t interleaved(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  const Interleaved<Formula, kTo> of(affine);
  // In three places at once, as planes are: the processor then has more lines on their way from memory.
  constexpr std::size_t kPlaces = 3;
  const std::size_t run = pixels / kPlaces / kRound<kTo> * kRound<kTo>;
  constexpr std::size_t kPixel = 3 * bytes_of(kTo);
  for (std::size_t i = 0; i < run; i += kRound<kTo>) {
    for (std::size_t at = i; at < kPlaces * run; at += run) of.round(rgb + 3 * at, out + kPixel * at);
  }
  std::size_t done = kPlaces * run;
  for (; done + kRound<kTo> <= pixels; done += kRound<kTo>) of.round(rgb + 3 * done, out + kPixel * done);
  return done;
}

template <class Formula, Dtype kTo>
std::size_t planes(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  const std::size_t lanes = hn::Lanes(f32);
  constexpr std::size_t kVectors = kRound<kTo> / hn::MaxLanes(f32);
  const hn::Repartition<std::uint8_t, F32> u8;
  const Formula red(affine, 0, 0);
  const Formula green(affine, 1, 0);
  const Formula blue(affine, 2, 0);
  const std::size_t plane = pixels * bytes_of(kTo);
  std::size_t done = 0;
  for (; done + kRound<kTo> <= pixels; done += kRound<kTo>, out += kRound<kTo> * bytes_of(kTo)) {
    hn::Vec<decltype(u8)> bytes[kVectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v, rgb += 3 * lanes) bytes[v] = load_pixels(rgb);
    const auto channel = [&](const Formula& formula, std::size_t c) HWY_ATTR {
      const auto pick = hn::LoadDup128(u8, kChannel[c]);
      const auto value = [&](std::size_t v) HWY_ATTR {
        return formula.of(hn::BitCast(I32(), hn::TableLookupBytesOr0(bytes[v], pick)));
      };
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; v += 2)
        put<kTo, Formula::kTies>(value(v), value(v + 1), out + c * plane + v * lanes * bytes_of(kTo));
    };
    channel(red, 0);
    channel(green, 1);
    channel(blue, 2);
  }
  return done;
}

template <class Formula, Dtype kTo>
std::size_t affine_of(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  return affine.layout == Layout::kNhwc ? interleaved<Formula, kTo>(affine, rgb, pixels, out)
                                        : planes<Formula, kTo>(affine, rgb, pixels, out);
}

// A chain whose operations are in 16 bits ends in these bits; one in float32 may end in any.
std::size_t RunAffine(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  constexpr Dtype kWhole = Dtype::kFloat32;
  constexpr Dtype kHalf = Dtype::kFloat16;
  constexpr Dtype kBrain = Dtype::kBfloat16;
  const auto with = [&](auto* run) { return run(affine, rgb, pixels, out); };
  if (affine.line) {
    if (affine.to == kHalf) return with(affine_of<Straight, kHalf>);
    if (affine.to == kBrain) return with(affine_of<Straight, kBrain>);
  } else if (affine.step == kWhole) {
    if (affine.to == kWhole) return with(affine_of<Steps<kWhole>, kWhole>);
    if (affine.to == kHalf) return with(affine_of<Steps<kWhole>, kHalf>);
    if (affine.to == kBrain) return with(affine_of<Steps<kWhole>, kBrain>);
  } else if (affine.step == affine.to) {
    if (affine.to == kHalf) return with(affine_of<Steps<kHalf>, kHalf>);
    if (affine.to == kBrain) return with(affine_of<Steps<kBrain>, kBrain>);
  }
  return 0;
}

#endif

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::kernels {

HWY_EXPORT(SplitChannels);
HWY_EXPORT(RunAffine);

void split_channels(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* red, std::uint8_t* green,
                    std::uint8_t* blue) {
  HWY_DYNAMIC_DISPATCH(SplitChannels)(rgb, pixels, red, green, blue);
}

std::size_t run_affine(const Affine& affine, const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  return HWY_DYNAMIC_DISPATCH(RunAffine)(affine, rgb, pixels, out);
}

}  // namespace feedring::kernels
#endif  // HWY_ONCE
