// SPDX-License-Identifier: Apache-2.0
// The seek index of a picture: where in its scan every sixteenth unit of each row begins, so that later a crop can be
// entered there. Ten bytes an entry, about 1.7 KB for a photograph of 500 x 375.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace feedring::seekjpeg {

inline constexpr std::int32_t kEvery = 16;

/// Before a unit. May come from memory that others can write: a copy of it is checked before it is used.
struct Entry {
  std::uint16_t low = 0;  ///< the position, in bits from the first byte of the scan as it lies in the file
  std::uint16_t high = 0;
  std::array<std::int16_t, 3> dc{};  ///< of each component's last block

  [[nodiscard]] std::uint32_t position() const noexcept { return low | std::uint32_t{high} << 16; }
};
static_assert(sizeof(Entry) == 10);

/// Where the index of the picture in hand is kept. Whoever implements it knows which picture that is.
class Shelf {
 public:
  Shelf() = default;
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;
  virtual ~Shelf() = default;

  /// The entries, of which there must be `count`; empty: none are kept. Valid while the picture is decoded.
  virtual std::span<const Entry> find(std::size_t count) = 0;
  /// Whether keep() would do something: making an index means reading a scan to its end.
  virtual bool wants(std::size_t count) = 0;
  virtual void keep(std::span<const Entry> entries) = 0;
};

}  // namespace feedring::seekjpeg
