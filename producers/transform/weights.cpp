// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/weights.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "producers/transform/resample_kernels.hpp"

namespace feedring {
namespace {

constexpr std::array<std::pair<std::string_view, Filter>, 6> kNames{{{"nearest", Filter::kNearest},
                                                                     {"box", Filter::kBox},
                                                                     {"bilinear", Filter::kBilinear},
                                                                     {"hamming", Filter::kHamming},
                                                                     {"bicubic", Filter::kBicubic},
                                                                     {"lanczos", Filter::kLanczos}}};

constexpr std::size_t round_up(std::size_t n) noexcept {
  return (n + kernels::kOutputsAtOnce - 1) / kernels::kOutputsAtOnce * kernels::kOutputsAtOnce;
}

}  // namespace

std::string_view name_of(Filter filter) noexcept {
  for (const auto& [name, each] : kNames) {
    if (each == filter) return name;
  }
  return "?";
}

std::optional<Filter> filter_of(std::string_view name) noexcept {
  if (name == "nearest-exact") return Filter::kNearest;
  for (const auto& [each, filter] : kNames) {
    if (each == name) return filter;
  }
  return std::nullopt;
}

Taps taps_of(std::int32_t source, std::int32_t target, std::int32_t output, Filter filter) noexcept {
  std::array<std::int32_t, kernels::kOutputsAtOnce> starts{};
  std::array<std::int32_t, kernels::kOutputsAtOnce> ends{};
  kernels::locate({source, target, output, 1, filter, false}, starts.data(), ends.data());
  return {starts[0], ends[0] - starts[0]};
}

void AxisWeights::build(std::int32_t source, std::int32_t target, std::int32_t first, std::int32_t count, Filter filter,
                        Pass pass) {
  const Key key{source, target, first, count, filter, pass};
  if (key == key_) return;
  const kernels::Axis axis{source, target, first, count, filter, pass == Pass::kMirrored};
  const std::size_t stride = round_up(static_cast<std::size_t>(count));
  const auto grow = [](auto& vector, std::size_t size) {
    if (vector.size() < size) vector.resize(size);
  };
  grow(starts_, stride);
  grow(ends_, stride);
  widest_ = kernels::locate(axis, starts_.data(), ends_.data());
  const std::size_t rows = std::size_t{2} * static_cast<std::size_t>(pairs());
  grow(raw_, rows * kernels::kOutputsAtOnce);
  grow(words_, rows * stride);
  const std::int32_t end = ends_[axis.mirrored ? 0 : static_cast<std::size_t>(count - 1)];
  const std::int32_t latest = pass == Pass::kDown ? source : end - widest_;
  kernels::weigh(axis, latest, pairs(), starts_.data(), ends_.data(), raw_.data(), words_.data(), stride);
  stride_ = stride;
  key_ = key;
  if (pass == Pass::kDown) return;
  const std::size_t thirds = stride / kernels::kGroup * kernels::kThirds;
  grow(thirds_, thirds);
  grow(spread_, thirds * rows * 4);
  farthest_ = kernels::spread(across(), thirds_.data(), spread_.data());
}

AcrossWeights AxisWeights::across() const noexcept {
  return {starts_.data(), words_.data(),  stride_,  widest_, key_.count, key_.pass == Pass::kMirrored,
          thirds_.data(), spread_.data(), farthest_};
}

}  // namespace feedring
