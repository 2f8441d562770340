// SPDX-License-Identifier: Apache-2.0
// The two ways to a crop: reading a scan from its begin, and entering each row of units by the index.
#include "producers/decode/seekjpeg/band.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "producers/decode/seekjpeg/band_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

#include "producers/decode/seekjpeg/pixels-inl.hpp"
#include "producers/decode/seekjpeg/units-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace feedring::seekjpeg::HWY_NAMESPACE {
namespace {

/// Notes entries while a scan is read from its begin to its end.
class Recorder {
 public:
  explicit Recorder(Job& job) : to_(job.record) {}

  [[nodiscard]] bool is_on() const { return !to_.empty(); }
  void give_up() { to_ = {}; }
  /// The next entry: in the order of the scan. For the present of the scan without its stuffing.
  void note(const Reader& reader, const Bits& bits) {
    const auto at = static_cast<std::uint32_t>(position(bits, reader.source.base));
    Entry& entry = to_[count_++];
    entry.low = static_cast<std::uint16_t>(at);
    entry.high = static_cast<std::uint16_t>(at >> 16);
    for (unsigned c = 0; c < 3; ++c) {
      entry.dc[c] = static_cast<std::int16_t>(reader.dc[c]);
      if (entry.dc[c] != reader.dc[c]) return give_up();
    }
  }
  /// Positions as the file has them: each byte of ones is followed by one of zeros there.
  void finish(const std::uint8_t* scan) {
    std::uint32_t seen = 0;
    std::uint32_t stuffed = 0;
    for (Entry& entry : to_) {
      const std::uint32_t byte = entry.position() / 8;
      stuffed += static_cast<std::uint32_t>(count_ones(scan + seen, byte - seen));
      seen = byte;
      const std::uint32_t at = entry.position() + 8 * stuffed;
      entry.low = static_cast<std::uint16_t>(at);
      entry.high = static_cast<std::uint16_t>(at >> 16);
    }
  }

 private:
  std::span<Entry> to_;
  std::size_t count_ = 0;
};

/// Units `from` to `to` of a row.
Bits read_units(Reader& reader, Recorder& recorder, Bits bits, std::int32_t from, std::int32_t to, bool keep) {
  while (from < to) {
    std::int32_t end = to;
    if (recorder.is_on()) {
      if (from % kEvery == 0) recorder.note(reader, bits);
      end = std::min(to, (from / kEvery + 1) * kEvery);
    }
    bits = keep ? keep_units(reader, bits, end - from) : pass_units(reader, bits, end - from);
    from = end;
  }
  return bits;
}

bool has_overrun(const Reader& reader, const Bits& bits) {
  const Source& source = reader.source;
  return source.ended && position(bits, source.base) > 8 * static_cast<std::uint64_t>(source.to - source.base);
}

/// False where the crop meets something odd. What is odd behind it only means that there is no index.
bool read_through(Job& job) {
  const Band& band = job.band;
  const Header& header = *job.header;
  Reader reader;
  start(job, reader);
  reader.source = {header.scan.data(), header.scan.data() + header.scan.size(), job.scan[0], job.scan[0], false};
  reader.limit = job.scan[0] - 1;
  Pixels pixels(job);
  Recorder recorder(job);
  Bits bits{job.scan[0], 0, 0};
  const std::int32_t rows = recorder.is_on() ? band.down : band.read_rows;
  for (std::int32_t row = 0; row < rows; ++row) {
    if (row < band.first_row || row >= band.end_row) {
      bits = read_units(reader, recorder, bits, 0, band.across, false);
    } else {
      begin_row(job, row, reader);
      bits = read_units(reader, recorder, bits, 0, band.first, false);
      bits = read_units(reader, recorder, bits, band.first, band.end, true);
      flush(reader);
      bits = read_units(reader, recorder, bits, band.end, band.across, false);
      if (!reader.broken) pixels.finish_row(row);
    }
    for (const std::int32_t dc : reader.dc) {
      if (dc > kMaxDc || dc < -kMaxDc) reader.broken = true;
    }
    const bool is_good = !reader.broken && !has_overrun(reader, bits);
    if (!is_good && row < band.read_rows) return false;
    if (!is_good) recorder.give_up();
    if (row >= band.read_rows && !recorder.is_on()) return true;
  }
  job.recorded = recorder.is_on();
  if (job.recorded) recorder.finish(job.scan[0]);
  return true;
}

/// Makes the reader ready for the first unit of the band in a row, as far as the index leads. False: nowhere.
bool enter_row(const Job& job, std::int32_t row, Reader& reader, std::uint8_t* room, Bits& bits) {
  const Band& band = job.band;
  const std::int32_t a_row = entries_across(band);
  const std::int32_t first = row * a_row + band.first / kEvery;
  const std::int32_t after = row * a_row + (band.end + kEvery - 1) / kEvery;
  const std::span<const std::uint8_t> scan = job.header->scan;
  const auto all = static_cast<std::uint64_t>(scan.size());
  const Entry entry = job.known[static_cast<std::size_t>(first)];
  std::uint64_t end = all;
  if (static_cast<std::size_t>(after) < job.known.size()) {
    const Entry next = job.known[static_cast<std::size_t>(after)];
    end = std::min<std::uint64_t>(all, next.position() / 8 + 2);  // its bits, and the stuffing behind them
  }
  const std::uint64_t begin = entry.position() / 8;
  if (begin >= end) return false;
  reader.source = {scan.data() + begin, scan.data() + end, room, room, false};
  reader.limit = room - 1;
  for (unsigned c = 0; c < 3; ++c) reader.dc[c] = entry.dc[c];
  bits = more_scan(reader, {room, 0, 0});
  fill(bits);
  drop(bits, entry.position() % 8);
  begin_row(job, row, reader);
  bits = pass_units(reader, bits, band.first % kEvery);
  return !reader.broken;
}

bool enter_rows(Job& job) {
  const Band& band = job.band;
  Reader reader;
  start(job, reader);
  Pixels pixels(job);
  Bits bits{};
  for (std::int32_t row = band.first_row; row < band.end_row; ++row) {
    if (!enter_row(job, row, reader, job.scan[0], bits)) return false;
    bits = keep_units(reader, bits, band.end - band.first);
    flush(reader);
    if (reader.broken || has_overrun(reader, bits)) return false;
    pixels.finish_row(row);
  }
  return true;
}

bool DecodeBand(Job& job) { return job.known.empty() ? read_through(job) : enter_rows(job); }

}  // namespace
}  // namespace feedring::seekjpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace feedring::seekjpeg {

HWY_EXPORT(DecodeBand);

bool decode_band(Job& job) { return HWY_DYNAMIC_DISPATCH(DecodeBand)(job); }

}  // namespace feedring::seekjpeg
#endif  // HWY_ONCE
