// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/seekjpeg/crop_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "producers/decode/arena.hpp"
#include "producers/decode/jpeg_end.hpp"
#include "producers/decode/seekjpeg/band.hpp"
#include "producers/decode/seekjpeg/header.hpp"
#include "producers/decode/seekjpeg/huffman.hpp"

namespace feedring::seekjpeg {
namespace {

/// A table and the bytes of the file that it was made of.
template <class Table>
class Made {
 public:
  /// nullptr: no codes that this decoder takes.
  const Table* from(const std::uint8_t* counts_and_symbols) {
    std::size_t size = 16;
    for (int i = 0; i < 16; ++i) size += counts_and_symbols[i];
    if (size == size_ && std::memcmp(made_of_.data(), counts_and_symbols, size) == 0) return &table_;
    size_ = 0;
    if (!table_.build(counts_and_symbols)) return nullptr;
    std::copy_n(counts_and_symbols, size, made_of_.begin());
    size_ = size;
    return &table_;
  }

 private:
  Table table_;
  std::array<std::uint8_t, 16 + 256> made_of_{};
  std::size_t size_ = 0;
};

bool give_plane(const Header& header, const Band& band, std::size_t index, Arena& arena, Plane& plane) {
  const Component& component = header.component[index];
  const Component& luma = header.component[0];
  const std::int32_t across = component.across * kBlock;
  const std::int32_t down = component.down * kBlock;
  const auto width = static_cast<std::size_t>((band.end - band.first) * across);
  plane.stride = (kEdge + width + kRowSlack + 63) / 64 * 64;
  plane.x = band.first * across;
  plane.y = band.first_row * down;
  plane.picture = {(header.size.width * component.across + luma.across - 1) / luma.across,
                   (header.size.height * component.down + luma.down - 1) / luma.down};
  const auto rows = static_cast<std::size_t>((band.end_row - band.first_row) * down);
  auto* memory = static_cast<std::uint8_t*>(arena.take(plane.stride * rows + kRowSlack));
  plane.samples = memory + kEdge;
  return memory != nullptr;
}

bool decode(Job& job, Arena& arena, Shelf* shelf) {
  if (shelf == nullptr) return decode_band(job);
  const std::size_t count = entries_of(job.band);
  job.known = shelf->find(count);
  if (!job.known.empty()) {
    if (job.known.size() == count && decode_band(job)) return true;
    job.known = {};  // what is there leads nowhere
    return decode_band(job);
  }
  auto* entries = shelf->wants(count) ? static_cast<Entry*>(arena.take(count * sizeof(Entry))) : nullptr;
  if (entries != nullptr) job.record = {entries, count};
  if (!decode_band(job)) return false;
  if (job.recorded) shelf->keep(job.record);
  return true;
}

}  // namespace

struct CropDecoder::Tables {
  std::array<Made<DcTable>, 4> dc;
  std::array<Made<AcTable>, 4> ac;
};

CropDecoder::CropDecoder() : tables_(std::make_unique<Tables>()) {}
CropDecoder::~CropDecoder() = default;

bool CropDecoder::pixels(std::span<const std::uint8_t> bytes, Size size, Box box, Arena& arena, RgbView& out,
                         Shelf* shelf) {
  Header header;
  if (!read_header(bytes, header) || header.size != size || !has_end_marker(header.scan)) return false;
  Job job;
  job.header = &header;
  job.band = band_of(header, box);
  job.box = box;
  std::array<std::array<std::int16_t, 64>, 4> quant;
  for (std::size_t i = 0; i < static_cast<std::size_t>(header.components); ++i) {
    const Component& component = header.component[i];
    job.dc[i] = tables_->dc[component.dc].from(header.dc[component.dc]);
    job.ac[i] = tables_->ac[component.ac].from(header.ac[component.ac]);
    if (job.dc[i] == nullptr || job.ac[i] == nullptr) return false;
    const auto& stated = header.quant[component.quant];
    std::transform(stated.begin(), stated.end(), quant[component.quant].begin(),
                   [](std::uint16_t value) { return static_cast<std::int16_t>(value); });
    job.quant[i] = quant[component.quant].data();
    if (!give_plane(header, job.band, i, arena, job.plane[i])) return false;
  }
  const auto width = static_cast<std::size_t>(box.width);
  for (std::uint8_t*& scan : job.scan) {
    scan = static_cast<std::uint8_t*>(arena.take(header.scan.size() + kScanSlack));
    if (scan == nullptr) return false;
  }
  job.rgb = static_cast<std::uint8_t*>(arena.take(3 * width * static_cast<std::size_t>(box.height) + kRowSlack));
  for (std::uint8_t*& row : job.row) {
    row = static_cast<std::uint8_t*>(arena.take(width + 8 + kRowSlack));
    if (row == nullptr) return false;
  }
  job.sums = static_cast<std::int16_t*>(arena.take(2 * (width + 8 + kRowSlack)));
  if (job.sums == nullptr || job.rgb == nullptr || !decode(job, arena, shelf)) return false;
  out = {job.rgb, {box.width, box.height}, 3 * width};
  return true;
}

}  // namespace feedring::seekjpeg
