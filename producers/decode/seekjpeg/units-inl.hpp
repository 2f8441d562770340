// SPDX-License-Identifier: Apache-2.0
// Units of a scan: those that a crop needs are decoded into its planes, the others only passed.
#if defined(FEEDRING_SEEKJPEG_UNITS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FEEDRING_SEEKJPEG_UNITS_INL
#undef FEEDRING_SEEKJPEG_UNITS_INL
#else
#define FEEDRING_SEEKJPEG_UNITS_INL
#endif

#include <algorithm>
#include <cstring>

#include "producers/decode/seekjpeg/band.hpp"
#include "producers/decode/seekjpeg/bits-inl.hpp"
#include "producers/decode/seekjpeg/entropy-inl.hpp"
#include "producers/decode/seekjpeg/idct_short-inl.hpp"

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
  unsigned components;
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
  std::int16_t* coefficients = reader.coefficients + older * kBlockRoom;
  const bool is_short = reader.wait[older].last < kShort && reader.wait[older + kAtOnce - 1].last < kShort;
  if (!(is_short ? transform_short<kBlockRoom> : transform<kBlockRoom>)(coefficients, reader.wait + older)) {
    reader.broken = true;
  }
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
      const std::int64_t scaled = std::int64_t{dc} * reader.quant_dc[c];
      if (HWY_UNLIKELY(static_cast<std::uint64_t>(scaled + kMaxScaledDc) >= 2 * kMaxScaledDc)) reader.broken = true;
      std::uint8_t* to = reader.to[c] + step->offset;
      if (last == 0) {
        fill_block(to, reader.stride[c], static_cast<std::int32_t>(scaled));
        continue;
      }
      block[0] = static_cast<std::int16_t>(dc);
      reader.wait[reader.waiting] = {reader.quant[c], to, reader.stride[c], last};
      if (++reader.waiting % kAtOnce == 0) transform_older(reader);
    } while (++step != end);
    for (unsigned c = 0; c < reader.components; ++c) {
      reader.to[c] += kBlock * static_cast<std::size_t>(c == 0 ? reader.step[0].across : 1);
    }
  }
  return bits;
}

/// What still waits at the end of a row.
void flush(Reader& reader) {
  std::uint8_t nobody[64];
  while (reader.waiting % kAtOnce != 0) reader.wait[reader.waiting++] = {reader.wait[0].quant, nobody, 8, 0};
  transform_older(reader);
  reader.waiting += kAtOnce;
  transform_older(reader);
  reader.waiting = 0;
}

void start(const Job& job, Reader& reader) {
  const Header& header = *job.header;
  reader = {};
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
  reader.components = static_cast<unsigned>(header.components);
}

/// Where the samples of a row of the band go.
void begin_row(const Job& job, std::int32_t row, Reader& reader) {
  const auto rows = static_cast<std::size_t>(row - job.band.first_row);
  for (unsigned c = 0; c < static_cast<unsigned>(job.header->components); ++c) {
    reader.to[c] = job.plane[c].samples + job.plane[c].stride * kBlock * job.header->component[c].down * rows;
  }
}

}  // namespace
}  // namespace feedring::seekjpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the odd guard
