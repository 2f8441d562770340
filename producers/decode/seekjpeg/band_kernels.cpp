// SPDX-License-Identifier: Apache-2.0
// The loop over a scan: units that a crop needs are decoded, the others only passed; and rows of pixels as soon as
// their samples are there.
#include "producers/decode/seekjpeg/band.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/decode/seekjpeg/band_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

#include "producers/decode/seekjpeg/bits-inl.hpp"
#include "producers/decode/seekjpeg/entropy-inl.hpp"
#include "producers/decode/seekjpeg/idct-inl.hpp"
#include "producers/decode/seekjpeg/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace feedring::seekjpeg::HWY_NAMESPACE {
namespace {

// A DC of more is no picture. So large a sum cannot overflow within a row of units.
constexpr std::int32_t kMaxDc = 1 << 24;
constexpr std::int32_t kMaxScaledDc = 8192;  // beyond it libjpeg's ways differ, see transform()

/// A block of a unit.
struct Step {
  const DcTable* dc;
  const AcTable* ac;
  unsigned component;
  std::int32_t across;  // of the component's blocks in a unit
  std::size_t offset;   // of its samples from the first of the unit
};

struct Reader {
  Source source;
  const std::uint8_t* limit;  // of Bits::at before a unit; beyond it more of the scan has to be made ready
  bool broken;
  unsigned steps;
  Step step[6];
  std::int32_t dc[3];
  // Keeping.
  std::int16_t quant_dc[3];
  std::size_t stride[3];
  std::uint8_t* to[3];  // of the next unit
  unsigned waiting;
  Waiting wait[2 * kAtOnce];
  const std::int16_t* quant[3];
  alignas(64) std::int16_t coefficients[2 * kAtOnce * kBlockRoom];
};

/// More of the scan, or, where there is none, the end of the matter.
HWY_NOINLINE Bits more_scan(Reader& reader, Bits bits) {
  Source& source = reader.source;
  if (source.ended) {  // and the last bits were used before this unit
    reader.broken = true;
    return bits_at(source.base, 0);
  }
  source.more();
  reader.limit = source.ended ? source.to + sizeof(std::uint64_t) : source.to - kUnitBytes;
  return bits;
}

HWY_NOINLINE Bits pass_units(Reader& reader, Bits bits, std::int32_t count) {
  const std::uint8_t* base = reader.source.base;
  for (std::int32_t i = 0; i < count; ++i) {
    while (HWY_UNLIKELY(bits.at > reader.limit)) {
      bits = more_scan(reader, bits);
      if (reader.broken) return bits;
    }
    const Step* step = reader.step;
    const Step* end = step + reader.steps;
    do {
      std::int32_t difference;
      read_block<false>(bits, *step->dc, *step->ac, base, nullptr, difference, reader.broken);
      reader.dc[step->component] += difference;
    } while (++step != end);
  }
  return bits;
}

HWY_INLINE void fill_block(std::uint8_t* to, std::size_t stride, std::int32_t dc) {
  const std::int32_t sample = ((dc + 4) >> 3) + 128;
  const auto byte = static_cast<std::uint8_t>(sample < 0 ? 0 : sample > 255 ? 255 : sample);
  const std::uint64_t word = byte * 0x0101010101010101ULL;
  for (int i = 0; i < 8; ++i, to += stride) std::memcpy(to, &word, 8);
}

/// Transforms the blocks before the last kAtOnce. Those were written only now, number by number, which a processor does
/// not yet hand out as whole vectors.
HWY_NOINLINE void transform_older(Reader& reader) {
  if (reader.waiting == 2 * kAtOnce) reader.waiting = 0;
  const std::size_t older = reader.waiting;
  if (reader.wait[older].to == nullptr) return;
  if (!transform<kBlockRoom>(reader.coefficients + older * kBlockRoom, reader.wait + older)) reader.broken = true;
  reader.wait[older].to = nullptr;
}

HWY_NOINLINE Bits keep_units(Reader& reader, Bits bits, std::int32_t count) {
  const std::uint8_t* base = reader.source.base;
  for (std::int32_t i = 0; i < count; ++i) {
    while (HWY_UNLIKELY(bits.at > reader.limit)) {
      bits = more_scan(reader, bits);
      if (reader.broken) return bits;
    }
    const Step* step = reader.step;
    const Step* end = step + reader.steps;
    do {
      std::int16_t* block = reader.coefficients + reader.waiting * kBlockRoom;
      std::int32_t difference;
      const unsigned last = read_block<true>(bits, *step->dc, *step->ac, base, block, difference, reader.broken);
      const unsigned c = step->component;
      const std::int32_t dc = reader.dc[c] += difference;
      const std::int32_t scaled = dc * reader.quant_dc[c];
      if (HWY_UNLIKELY(static_cast<std::uint32_t>(scaled + kMaxScaledDc) >= 2 * kMaxScaledDc)) reader.broken = true;
      std::uint8_t* to = reader.to[c] + step->offset;
      if (last == 0) {
        fill_block(to, reader.stride[c], scaled);
        continue;
      }
      block[0] = static_cast<std::int16_t>(dc);
      reader.wait[reader.waiting] = {reader.quant[c], to, reader.stride[c]};
      if (++reader.waiting % kAtOnce == 0) transform_older(reader);
    } while (++step != end);
    for (unsigned c = 0; c < 3; ++c) reader.to[c] += 8 * static_cast<std::size_t>(c == 0 ? reader.step[0].across : 1);
  }
  return bits;
}

/// What still waits at the end of a row.
void flush(Reader& reader) {
  std::uint8_t nobody[64];
  while (reader.waiting % kAtOnce != 0) reader.wait[reader.waiting++] = {reader.wait[0].quant, nobody, 8};
  transform_older(reader);
  reader.waiting += kAtOnce;
  transform_older(reader);
  reader.waiting = 0;
}

void start(const Job& job, Reader& reader) {
  const Header& header = *job.header;
  const std::uint8_t* scan = header.scan.data();
  reader.source = {scan, scan + header.scan.size(), job.scan, job.scan, false};
  reader.limit = job.scan - 1;
  unsigned steps = 0;
  for (unsigned c = 0; c < static_cast<unsigned>(header.components); ++c) {
    const Component& component = header.component[c];
    reader.quant[c] = job.quant[c];
    reader.quant_dc[c] = job.quant[c][0];
    reader.stride[c] = job.plane[c].stride;
    for (std::size_t y = 0; y < component.down; ++y) {
      for (std::size_t x = 0; x < component.across; ++x) {
        reader.step[steps++] = {job.dc[c], job.ac[c], c, component.across, 8 * (y * job.plane[c].stride + x)};
      }
    }
  }
  reader.steps = steps;
}

/// Chroma as the filter needs it at the edges of the picture: the first and the last sample once more.
void extend_rows(const Job& job, unsigned c, std::uint8_t* row) {
  const Plane& plane = job.plane[c];
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

  /// Rows up to `end` (of the picture), which all samples above `end` and one row of chroma more allow.
  void rows(std::int32_t end) {
    for (end = std::min(end, job_.box.y + job_.box.height); next_ < end; ++next_) row(next_);
  }

 private:
  [[nodiscard]] std::uint8_t* sample(unsigned c, std::int32_t x, std::int32_t y) const {
    const Plane& plane = job_.plane[c];
    return plane.samples + static_cast<std::ptrdiff_t>(plane.stride) * (y - plane.y) + (x - plane.x);
  }

  void row(std::int32_t y) {
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
      double_both(here, sample(c, left, beside), count, to);
    }
    return to + box.x % luma.across;
  }

  const Job& job_;
  std::int32_t next_;
};

bool DecodeBand(Job& job) {
  const Band& band = job.band;
  Reader reader{};
  start(job, reader);
  Pixels pixels(job);
  const bool is_wider = job.header->components == 3 && job.header->component[0].across == 2;
  const std::int32_t late = job.header->components == 3 && job.header->component[0].down == 2 ? 1 : 0;
  Bits bits{job.scan, 0, 0};
  for (std::int32_t row = 0; row < band.read_rows; ++row) {
    if (row < band.first_row || row >= band.end_row) {
      bits = pass_units(reader, bits, band.across);
    } else {
      const std::int32_t done = row - band.first_row;
      for (unsigned c = 0; c < static_cast<unsigned>(job.header->components); ++c) {
        const std::size_t down = job.header->component[c].down;
        reader.to[c] = job.plane[c].samples + job.plane[c].stride * 8 * down * static_cast<std::size_t>(done);
      }
      const std::array<std::uint8_t*, 3> first{reader.to[0], reader.to[1], reader.to[2]};
      bits = pass_units(reader, bits, band.first);
      bits = keep_units(reader, bits, band.end - band.first);
      flush(reader);
      bits = pass_units(reader, bits, band.across - band.end);
      if (is_wider) {
        for (unsigned c = 1; c < 3; ++c) extend_rows(job, c, first[c]);
      }
      if (!reader.broken) pixels.rows((row + 1) * band.unit.height - late);
    }
    for (const std::int32_t dc : reader.dc) {
      if (dc > kMaxDc || dc < -kMaxDc) reader.broken = true;
    }
    if (reader.broken) return false;
  }
  const auto used = position(bits, job.scan);
  if (reader.source.ended && used > 8 * static_cast<std::uint64_t>(reader.source.to - job.scan)) return false;
  pixels.rows(job.box.y + job.box.height);
  return true;
}

}  // namespace
}  // namespace feedring::seekjpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::seekjpeg {

HWY_EXPORT(DecodeBand);

bool decode_band(Job& job) { return HWY_DYNAMIC_DISPATCH(DecodeBand)(job); }

}  // namespace feedring::seekjpeg
#endif  // HWY_ONCE
