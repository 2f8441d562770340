// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/resample.hpp"

#include <algorithm>
#include <cstring>

#include "producers/transform/resample_kernels.hpp"

namespace feedring {
namespace {

// Calls visit(column) with the source pixel that the nearest filter takes for each output in [first, first + count).
template <class Visit>
void each_nearest(std::int32_t source, std::int32_t target, std::int32_t first, std::int32_t count, Visit visit) {
  // The position is a running sum, as Pillow's is: a product would round otherwise. Its error stays below 1e-6 of a
  // pixel for 65535 pixels, far less than the half step that keeps the last position inside the source.
  const double step = static_cast<double>(source) / target;
  double position = step * 0.5;
  for (std::int32_t output = 0; output < first + count; ++output) {
    if (output >= first) visit(std::min(static_cast<std::int32_t>(position), source - 1));
    position += step;
  }
}

struct Range {
  std::int32_t start;
  std::int32_t end;
};

Range needed(std::int32_t source, std::int32_t target, std::int32_t first, std::int32_t count, Filter filter) {
  if (source == target) return {first, first + count};
  if (filter == Filter::kNearest) {
    Range range{source, 0};
    each_nearest(source, target, first, count, [&](std::int32_t column) {
      range = {std::min(range.start, column), column + 1};
    });
    return range;
  }
  const Taps front = taps_of(source, target, first, filter);
  const Taps back = taps_of(source, target, first + count - 1, filter);
  return {front.start, back.start + back.count};
}

// Access to the source by its own coordinates, although only a part is there.
class Source {
 public:
  Source(RgbView pixels, Box have) noexcept : pixels_(pixels), have_(have) {}
  [[nodiscard]] const std::uint8_t* row(std::int32_t y) const noexcept {
    return pixels_.data + static_cast<std::ptrdiff_t>(y - have_.y) * static_cast<std::ptrdiff_t>(pixels_.stride) -
           static_cast<std::ptrdiff_t>(have_.x) * 3;
  }
  [[nodiscard]] const std::uint8_t* at(std::int32_t x, std::int32_t y) const noexcept {
    return row(y) + static_cast<std::ptrdiff_t>(x) * 3;
  }

 private:
  RgbView pixels_;
  Box have_;
};

}  // namespace

Box needed_source(Size source, Size target, Box window, Filter filter) {
  const Range x = needed(source.width, target.width, window.x, window.width, filter);
  const Range y = needed(source.height, target.height, window.y, window.height, filter);
  return {x.start, y.start, x.end - x.start, y.end - y.start};
}

void Resampler::run(RgbView pixels, Box have, Size source, Size target, Box window, Filter filter, bool mirrored,
                    std::uint8_t* out, std::ptrdiff_t out_stride) {
  if (filter == Filter::kNearest) {
    return run_nearest(pixels, have, source, target, window, mirrored, out, out_stride);
  }
  const bool resize_across = source.width != target.width;
  const bool resize_down = source.height != target.height;
  const Source from(pixels, have);
  const std::size_t row_bytes = static_cast<std::size_t>(window.width) * 3;
  if (resize_across) {
    across_.build(source.width, target.width, window.x, window.width, filter,
                  mirrored ? AxisWeights::Pass::kMirrored : AxisWeights::Pass::kAcross);
  }
  if (resize_down) {
    down_.build(source.height, target.height, window.y, window.height, filter, AxisWeights::Pass::kDown);
  }

  // Source rows that are needed, [first, last], pass through the ring once, kRowsAtOnce at a time.
  const std::int32_t first = resize_down ? down_.starts()[0] : window.y;
  const std::int32_t last = (resize_down ? down_.ends()[window.height - 1] : window.y + window.height) - 1;
  constexpr std::int32_t kRows = kernels::kRowsAtOnce;
  const std::int32_t ring_rows = ((resize_down ? down_.widest() : 1) + 2 * kRows - 2) / kRows * kRows;
  const std::size_t ring_stride = (row_bytes + kernels::kRowSpare + 63) / 64 * 64;
  const bool direct = !resize_across && !mirrored;
  if (!direct && ring_.size() < static_cast<std::size_t>(ring_rows) * ring_stride) {
    ring_.resize(static_cast<std::size_t>(ring_rows) * ring_stride);
  }
  const auto slot = [&](std::int32_t y) {
    return ring_.data() + static_cast<std::size_t>((y - first) % ring_rows) * ring_stride;
  };
  std::int32_t made = first;
  // The row of pixels, final in its width, that comes from source row `y`; rows are asked for in rising order, never
  // more than down_.widest() back.
  const auto row_of = [&](std::int32_t y) -> const std::uint8_t* {
    if (direct) return from.at(window.x, y);
    for (; made <= y; made += kRows) {
      if (resize_across) {
        const std::uint8_t* const rows[kRows] = {from.row(made), from.row(std::min(made + 1, last)),
                                                 from.row(std::min(made + 2, last)),
                                                 from.row(std::min(made + 3, last))};
        std::uint8_t* const slots[kRows] = {slot(made), slot(made + 1), slot(made + 2), slot(made + 3)};
        kernels::across(rows, slots, across_.across());
      } else {
        for (std::int32_t r = made; r <= std::min(made + kRows - 1, last); ++r) {
          kernels::reverse(from.at(window.x, r), slot(r), window.width);
        }
      }
    }
    return slot(y);
  };

  if (!resize_down) {
    for (std::int32_t i = 0; i < window.height; ++i, out += out_stride) {
      std::memcpy(out, row_of(window.y + i), row_bytes);
    }
    return;
  }
  taps_.resize(static_cast<std::size_t>(down_.pairs()) * 2);
  for (std::int32_t i = 0; i < window.height; ++i, out += out_stride) {
    const std::int32_t start = down_.starts()[i];
    const std::int32_t taps = std::max(down_.ends()[i] - start, 1);
    const std::int32_t pairs = (taps + 1) / 2;
    row_of(start + taps - 1);  // makes the rows before it too
    for (std::int32_t t = 0; t < 2 * pairs; ++t) {
      taps_[static_cast<std::size_t>(t)] = row_of(start + std::min(t, taps - 1));
    }
    kernels::down(taps_.data(), down_.words() + i, down_.stride(), pairs, out, row_bytes);
  }
}

void Resampler::run_nearest(RgbView pixels, Box have, Size source, Size target, Box window, bool mirrored,
                            std::uint8_t* out, std::ptrdiff_t out_stride) {
  columns_.clear();
  each_nearest(source.width, target.width, window.x, window.width,
               [&](std::int32_t column) { columns_.push_back(3 * column); });
  if (mirrored) std::reverse(columns_.begin(), columns_.end());
  const Source from(pixels, have);
  each_nearest(source.height, target.height, window.y, window.height, [&](std::int32_t y) {
    const std::uint8_t* row = from.row(y);
    std::uint8_t* to = out;
    for (const std::int32_t offset : columns_) {
      std::memcpy(to, row + offset, 3);
      to += 3;
    }
    out += out_stride;
  });
}

}  // namespace feedring
