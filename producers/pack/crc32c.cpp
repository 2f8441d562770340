// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace feedring::pack {
namespace {

static_assert(std::endian::native == std::endian::little, "eight bytes are looked up as they lie");
constexpr std::uint32_t kPolynomial = 0x82f63b78;  // with its bits turned around

using Table = std::array<std::uint32_t, 256>;

/// tables[n][b]: what the byte b does to the checksum n bytes later.
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t n = 1; n < tables.size(); ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[n - 1][byte];
      tables[n][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
constexpr std::array<Table, 8> kTables = make_tables();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  std::uint32_t crc = 0xffffffff;
  while (bytes.size() >= 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data(), 8);
    eight ^= crc;
    crc = 0;
    for (std::size_t n = 0; n < 8; ++n) crc ^= kTables[7 - n][eight >> (8 * n) & 0xff];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

}  // namespace feedring::pack
