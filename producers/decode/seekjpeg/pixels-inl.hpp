// SPDX-License-Identifier: Apache-2.0
// Rows of pixels, as soon as their samples are there and still in the processor's caches.
#if defined(FEEDRING_SEEKJPEG_PIXELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_SEEKJPEG_PIXELS_INL
#undef FEEDRING_SEEKJPEG_PIXELS_INL
#else
#define FEEDRING_SEEKJPEG_PIXELS_INL
#endif

#include <algorithm>

#include "producers/decode/seekjpeg/band.hpp"
#include "producers/decode/seekjpeg/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace feedring::seekjpeg::HWY_NAMESPACE {
namespace {

/// Chroma as the filter needs it at the edges of the picture: the first and the last sample once more.
void extend_rows(const Job& job, unsigned c, std::int32_t row_of_units) {
  const Plane& plane = job.plane[c];
  std::uint8_t* row = plane.samples + plane.stride * static_cast<std::size_t>(kBlock * row_of_units);
  const bool has_left = job.band.first == 0;
  const bool has_right = job.band.end == job.band.across;
  const std::int32_t last = plane.picture.width - 1 - plane.x;
  for (int y = 0; y < kBlock; ++y, row += plane.stride) {
    if (has_left) row[-1] = row[0];
    if (has_right) row[last + 1] = row[last];
  }
}

class Pixels {
 public:
  explicit Pixels(const Job& job) : job_(job), next_(job.box.y) {}

  /// What the samples of a row of units allow, those above it being there.
  void finish_row(std::int32_t row) {
    const Header& header = *job_.header;
    const Component& luma = header.component[0];
    const bool is_colour = header.components == 3;
    if (is_colour && luma.across == 2) {
      for (unsigned c = 1; c < 3; ++c) extend_rows(job_, c, row - job_.band.first_row);
    }
    // The filter needs one row of chroma more.
    const std::int32_t late = is_colour && luma.down == 2 && row + 1 < job_.band.end_row ? 1 : 0;
    const std::int32_t end = std::min((row + 1) * job_.band.unit.height - late, job_.box.y + job_.box.height);
    for (; next_ < end; ++next_) pixels(next_);
  }

 private:
  [[nodiscard]] std::uint8_t* sample(unsigned c, std::int32_t x, std::int32_t y) const {
    const Plane& plane = job_.plane[c];
    return plane.samples + static_cast<std::ptrdiff_t>(plane.stride) * (y - plane.y) + (x - plane.x);
  }

  void pixels(std::int32_t y) {
    const Header& header = *job_.header;
    const Box box = job_.box;
    const auto width = static_cast<std::size_t>(box.width);
    std::uint8_t* rgb = job_.rgb + 3 * width * static_cast<std::size_t>(y - box.y);
    const std::uint8_t* luma = sample(0, box.x, y);
    if (header.components == 1) return gray_row(luma, width, rgb);
    ycc_row(luma, chroma(1, y), chroma(2, y), width, rgb);
  }

  /// A row of chroma, one sample a pixel of the box.
  [[nodiscard]] const std::uint8_t* chroma(unsigned c, std::int32_t y) const {
    const Component& luma = job_.header->component[0];
    const Box box = job_.box;
    const std::int32_t left = box.x / luma.across;
    const auto count = static_cast<std::size_t>((box.x + box.width - 1) / luma.across - left + 1);
    const std::uint8_t* here = sample(c, left, y / luma.down);
    if (luma.across == 1 && luma.down == 1) return here;
    const std::int32_t beside = std::clamp(y / 2 + (y % 2 == 0 ? -1 : 1), 0, job_.plane[c].picture.height - 1);
    std::uint8_t* to = job_.row[c - 1];
    if (luma.across == 4) {
      repeat_four(here, count, to);
    } else if (luma.down == 1) {
      double_across(here, count, to);
    } else if (luma.across == 1) {
      double_down(here, sample(c, left, beside), y % 2 == 0 ? 1 : 2, count, to);
    } else {
      double_both(here, sample(c, left, beside), count, job_.sums, to);
    }
    return to + box.x % luma.across;
  }

  const Job& job_;
  std::int32_t next_;
};

}  // namespace
}  // namespace feedring::seekjpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
