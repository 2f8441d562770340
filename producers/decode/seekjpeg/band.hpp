// SPDX-License-Identifier: Apache-2.0
// Which part of a file a box needs, and everything that the kernels are given to decode it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "producers/decode/image.hpp"
#include "producers/decode/seekjpeg/entry.hpp"
#include "producers/decode/seekjpeg/header.hpp"
#include "producers/decode/seekjpeg/huffman.hpp"

namespace feedring::seekjpeg {

/// In units of the scan (ITU T.81: MCU). `end` is the first that is not needed any more.
struct Band {
  Size unit;                ///< in pixels
  std::int32_t across = 0;  ///< units of a row of the picture
  std::int32_t down = 0;    ///< and of a column
  std::int32_t first = 0;   ///< columns whose samples are needed
  std::int32_t end = 0;
  std::int32_t first_row = 0;  ///< rows whose samples are needed
  std::int32_t end_row = 0;
  std::int32_t read_rows = 0;  ///< rows that libjpeg would read for this box, which decide whether damage is met
};

Band band_of(const Header& header, Box box);

constexpr std::int32_t entries_across(const Band& band) { return (band.across + kEvery - 1) / kEvery; }
constexpr std::size_t entries_of(const Band& band) {
  return static_cast<std::size_t>(entries_across(band)) * static_cast<std::size_t>(band.down);
}

/// The samples of one component in a band.
struct Plane {
  std::uint8_t* samples =
      nullptr;  ///< the sample at (x, y); kEdge before each row and kRowSlack behind it may be touched
  std::size_t stride = 0;
  std::int32_t x = 0;
  std::int32_t y = 0;
  Size picture;  ///< of the component, in samples
};
inline constexpr std::size_t kEdge = 64;
inline constexpr std::size_t kRowSlack = 192;

struct Job {
  const Header* header = nullptr;
  Band band;
  Box box;
  std::array<Plane, 3> plane;
  std::array<const DcTable*, 3> dc{};
  std::array<const AcTable*, 3> ac{};
  std::array<const std::int16_t*, 3> quant{};
  std::uint8_t* scan[2] = {};    ///< for header->scan without its stuffing: its size and kScanSlack
  std::span<const Entry> known;  ///< not empty: the rows are entered there
  std::span<Entry> record;       ///< not empty: the scan is read to its end, and its index is noted there
  bool recorded = false;         ///< whether that is one
  std::uint8_t* row[2] = {};     ///< for a doubled row of each chroma component
  std::int16_t* sums = nullptr;  ///< room for as many numbers as such a row has, and kRowSlack
  std::uint8_t* rgb = nullptr;   ///< rows of 3 * box.width bytes; kRowSlack behind the last may be touched
};
inline constexpr std::size_t kScanSlack = 4096;

/// The pixels of the box. False: damaged, or odd; libjpeg is to say what is wrong, if anything is.
bool decode_band(Job& job);

}  // namespace feedring::seekjpeg
