// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/seekjpeg/band.hpp"

#include <algorithm>

namespace feedring::seekjpeg {

Band band_of(const Header& header, Box box) {
  const Component& luma = header.component[0];
  Band band;
  band.unit = {luma.across * kBlock, luma.down * kBlock};
  band.across = (header.size.width + band.unit.width - 1) / band.unit.width;
  band.down = (header.size.height + band.unit.height - 1) / band.unit.height;
  // The filter that doubles chroma reads one sample to each side: what a pixel more needs.
  const std::int32_t margin_x = luma.across == 2 ? 1 : 0;
  const std::int32_t margin_y = luma.down == 2 ? 1 : 0;
  const std::int32_t bottom = box.y + box.height;
  band.first = std::max(box.x - margin_x, 0) / band.unit.width;
  band.end = (std::min(box.x + box.width + margin_x, header.size.width) + band.unit.width - 1) / band.unit.width;
  band.first_row = std::max(box.y - margin_y, 0) / band.unit.height;
  band.end_row = (std::min(bottom + margin_y, header.size.height) + band.unit.height - 1) / band.unit.height;
  // libjpeg gives the last two rows of a unit only when it has read the next, where chroma is doubled downwards; and in
  // gray files it takes as many rows of units together as their factor says.
  const std::int32_t together = header.components == 1 ? header.rows_together : 1;
  const std::int32_t height = band.unit.height * together;
  const std::int32_t rows = (std::min(bottom + margin_y * 2, header.size.height) + height - 1) / height;
  band.read_rows = std::min(rows * together, band.down);
  return band;
}

}  // namespace feedring::seekjpeg
