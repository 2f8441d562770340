// SPDX-License-Identifier: Apache-2.0
// Taps and weights of one axis, several outputs at a time.
#include <cmath>
#include <utility>

#include "producers/transform/resample_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/transform/weight_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace feedring::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Outputs in lanes, operations in the order that Pillow uses, so that every rounding is the same.

double support_of(Filter filter) {
  switch (filter) {
    case Filter::kNearest:
    case Filter::kBox: return 0.5;
    case Filter::kBilinear:
    case Filter::kHamming: return 1.0;
    case Filter::kBicubic: return 2.0;
    case Filter::kLanczos: return 3.0;
  }
  return 0.5;
}

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= M_PI;
  return std::sin(x) / x;
}

double hamming(double x) {
  x = std::fabs(x);
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  x *= M_PI;
  return std::sin(x) / x * (double{0.54f} + double{0.46f} * std::cos(x));  // Pillow's constants are of type float
}

double lanczos(double x) { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0; }

using Df = hn::ScalableTag<double>;
using Di = hn::Rebind<std::int32_t, Df>;
using Vf = hn::Vec<Df>;
using Vi = hn::Vec<Di>;
constexpr std::int32_t kLanes = hn::MaxLanes(Df());
constexpr Df df;
constexpr Di di;

template <double (*kFunction)(double)>
Vf lane_by_lane(Vf x) {
  HWY_ALIGN double lanes[hn::MaxLanes(df)];
  hn::Store(x, df, lanes);
  for (std::size_t i = 0; i < hn::Lanes(df); ++i) lanes[i] = kFunction(lanes[i]);
  return hn::Load(df, lanes);
}

template <Filter kFilter>
Vf filter_at(Vf x) {
  const Vf one = hn::Set(df, 1.0);
  if constexpr (kFilter == Filter::kBox) {
    return hn::IfThenElseZero(hn::And(hn::Gt(x, hn::Set(df, -0.5)), hn::Le(x, hn::Set(df, 0.5))), one);
  } else if constexpr (kFilter == Filter::kBilinear) {
    const Vf a = hn::Abs(x);
    return hn::IfThenElseZero(hn::Lt(a, one), hn::Sub(one, a));
  } else if constexpr (kFilter == Filter::kBicubic) {
    const Vf a = hn::Abs(x);
    const Vf inner = hn::Add(hn::Mul(hn::Mul(hn::Sub(hn::Mul(hn::Set(df, 1.5), a), hn::Set(df, 2.5)), a), a), one);
    const Vf outer = hn::Mul(
        hn::Sub(hn::Mul(hn::Add(hn::Mul(hn::Sub(a, hn::Set(df, 5.0)), a), hn::Set(df, 8.0)), a), hn::Set(df, 4.0)),
        hn::Set(df, -0.5));
    return hn::IfThenElse(hn::Lt(a, one), inner, hn::IfThenElseZero(hn::Lt(a, hn::Set(df, 2.0)), outer));
  } else if constexpr (kFilter == Filter::kHamming) {
    return lane_by_lane<hamming>(x);
  } else {
    return lane_by_lane<lanczos>(x);
  }
}

double scale_of(const Axis& axis) { return static_cast<double>(axis.source) / axis.target; }
double stretch_of(const Axis& axis) { return scale_of(axis) < 1.0 ? 1.0 : scale_of(axis); }

// Centres, in source pixels, of the outputs of entries i, i + 1, …; behind the last entry it is repeated.
Vf centers_at(const Axis& axis, std::int32_t i) {
  const Vf index = hn::Min(hn::Iota(df, i), hn::Set(df, axis.count - 1));
  const Vf output = axis.mirrored ? hn::Sub(hn::Set(df, axis.first + axis.count - 1), index)
                                  : hn::Add(hn::Set(df, axis.first), index);
  return hn::Mul(hn::Add(output, hn::Set(df, 0.5)), hn::Set(df, scale_of(axis)));
}

// Entries to fill for `count` outputs.
constexpr std::int32_t filled(std::int32_t count) { return (count + kGroup - 1) / kGroup * kGroup; }

struct Reach {
  Vi start;
  Vi end;
};

Reach reach_of(const Axis& axis, Vf center) {
  const Vf support = hn::Set(df, support_of(axis.filter) * stretch_of(axis));
  const Vf half = hn::Set(df, 0.5);
  return {hn::Max(hn::DemoteTo(di, hn::Add(hn::Sub(center, support), half)), hn::Zero(di)),
          hn::Min(hn::DemoteTo(di, hn::Add(hn::Add(center, support), half)), hn::Set(di, axis.source))};
}

std::int32_t Locate(const Axis& axis, std::int32_t* starts, std::int32_t* ends) {
  Vi widest = hn::Set(di, 1);
  for (std::int32_t i = 0; i < filled(axis.count); i += kLanes) {
    const Reach reach = reach_of(axis, centers_at(axis, i));
    widest = hn::Max(widest, hn::Sub(reach.end, reach.start));
    hn::StoreU(reach.start, di, starts + i);
    hn::StoreU(reach.end, di, ends + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, widest));
}

// High and low part, both with the sign of the weight: then their sums stay as far from overflow as the whole's.
std::pair<Vi, Vi> split(Vi weight) {
  const Vi towards_zero = hn::And(hn::ShiftRight<31>(weight), hn::Set(di, (1 << kSplitBits) - 1));
  const Vi high = hn::ShiftRight<kSplitBits>(hn::Add(weight, towards_zero));
  return {high, hn::Sub(weight, hn::ShiftLeft<kSplitBits>(high))};
}

Vi join(Vi first, Vi second) { return hn::Or(hn::And(first, hn::Set(di, 0xFFFF)), hn::ShiftLeft<16>(second)); }

template <Filter kFilter>
void weigh_by(const Axis& axis, std::int32_t latest, std::int32_t pairs, std::int32_t* starts, const std::int32_t* ends,
              double* raw, std::int32_t* words, std::size_t stride) {
  const Vf inverse = hn::Set(df, 1.0 / stretch_of(axis));
  const Vf half = hn::Set(df, 0.5);
  for (std::int32_t i = 0; i < filled(axis.count); i += kLanes) {
    const Vi start = hn::LoadU(di, starts + i);
    const Vi from = hn::Min(start, hn::Set(di, latest));
    hn::StoreU(from, di, starts + i);
    const Vf first = hn::PromoteTo(df, start);
    const Vf end = hn::PromoteTo(df, hn::LoadU(di, ends + i));
    const Vf center = centers_at(axis, i);
    Vf pixel = hn::PromoteTo(df, from);
    Vf sum = hn::Zero(df);
    for (std::int32_t t = 0; t < 2 * pairs; ++t) {
      const Vf x = hn::Mul(hn::Add(hn::Sub(pixel, center), half), inverse);
      const auto tapped = hn::And(hn::Ge(pixel, first), hn::Lt(pixel, end));
      const Vf weight = hn::IfThenElseZero(tapped, filter_at<kFilter>(x));
      sum = hn::Add(sum, weight);
      hn::StoreU(weight, df, raw + static_cast<std::ptrdiff_t>(t) * kLanes);
      pixel = hn::Add(pixel, hn::Set(df, 1.0));
    }
    const auto fixed = [&](std::int32_t t) HWY_ATTR {
      const Vf weight = hn::LoadU(df, raw + static_cast<std::ptrdiff_t>(t) * kLanes);
      const Vf share = hn::IfThenElse(hn::Eq(sum, hn::Zero(df)), weight, hn::Div(weight, sum));
      const Vf scaled = hn::Mul(share, hn::Set(df, 1 << kWeightBits));
      return hn::DemoteTo(di, hn::Add(hn::CopySign(half, scaled), scaled));
    };
    for (std::int32_t p = 0; p < pairs; ++p) {
      const auto [high0, low0] = split(fixed(2 * p));
      const auto [high1, low1] = split(fixed(2 * p + 1));
      std::int32_t* to = words + static_cast<std::size_t>(2 * p) * stride + i;
      hn::StoreU(join(high0, high1), di, to);
      hn::StoreU(join(low0, low1), di, to + stride);
    }
  }
}

void Weigh(const Axis& axis, std::int32_t latest, std::int32_t pairs, std::int32_t* starts, const std::int32_t* ends,
           double* raw, std::int32_t* words, std::size_t stride) {
  const auto with = [&](auto weigh) { weigh(axis, latest, pairs, starts, ends, raw, words, stride); };
  switch (axis.filter) {
    case Filter::kNearest: return;
    case Filter::kBox: return with(weigh_by<Filter::kBox>);
    case Filter::kBilinear: return with(weigh_by<Filter::kBilinear>);
    case Filter::kHamming: return with(weigh_by<Filter::kHamming>);
    case Filter::kBicubic: return with(weigh_by<Filter::kBicubic>);
    case Filter::kLanczos: return with(weigh_by<Filter::kLanczos>);
  }
}

}  // namespace
}  // namespace feedring::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::kernels {

HWY_EXPORT(Locate);
HWY_EXPORT(Weigh);

std::int32_t locate(const Axis& axis, std::int32_t* starts, std::int32_t* ends) {
  return HWY_DYNAMIC_DISPATCH(Locate)(axis, starts, ends);
}

void weigh(const Axis& axis, std::int32_t latest, std::int32_t pairs, std::int32_t* starts, const std::int32_t* ends,
           double* raw, std::int32_t* words, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(Weigh)(axis, latest, pairs, starts, ends, raw, words, stride);
}

}  // namespace feedring::kernels
#endif  // HWY_ONCE
