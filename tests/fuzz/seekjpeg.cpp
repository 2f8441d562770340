// SPDX-License-Identifier: Apache-2.0
// A JPEG, and by its last bytes a box of it and a few entries of its seek index. What the own decoder takes,
// libjpeg-turbo takes too, with the same pixels; by the index they are the same once more; and with a wrong one it
// reads and writes nothing but its own.
#include <cstring>

#include "producers/decode/arena.hpp"
#include "producers/decode/jpeg.hpp"
#include "producers/decode/seekjpeg/crop_decoder.hpp"
#include "tests/support/fuzz_input.hpp"
#include "tests/support/one_shelf.hpp"

namespace {

void require_same(const feedring::RgbView& got, const feedring::RgbView& expected) {
  using namespace feedring;
  test::fuzz_require(got.size == expected.size);
  for (std::int32_t y = 0; y < got.size.height; ++y) {
    const auto row = static_cast<std::size_t>(y);
    test::fuzz_require(std::memcmp(got.data + got.stride * row, expected.data + expected.stride * row,
                                   std::size_t{3} * static_cast<std::size_t>(got.size.width)) == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  static JpegDecoder libjpeg;
  static seekjpeg::CropDecoder own;
  static Arena own_arena;
  static Arena arena;
  constexpr std::size_t kMemory = std::size_t{1} << 27;
  constexpr std::size_t kChoices = 16;
  const std::span<const std::uint8_t> bytes(data, size);
  test::FuzzInput choice(data + size - std::min(size, kChoices), std::min(size, kChoices));
  arena.reset(kMemory);
  Size whole;
  if (libjpeg.header(bytes, arena, whole) || std::int64_t{whole.width} * whole.height > 100'000) return 0;
  Box box{choice.take<std::uint8_t>() % whole.width, choice.take<std::uint8_t>() % whole.height, 1, 1};
  box.width += choice.take<std::uint8_t>() % (whole.width - box.x);
  box.height += choice.take<std::uint8_t>() % (whole.height - box.y);
  test::OneShelf shelf;
  for (const Box part : {Box{0, 0, whole.width, whole.height}, box, box}) {
    RgbView got;
    own_arena.reset(kMemory);
    if (!own.pixels(bytes, whole, part, own_arena, got, &shelf)) continue;
    RgbView expected;
    arena.reset(kMemory);
    test::fuzz_require(!libjpeg.pixels(bytes, whole, part, false, arena, expected));
    require_same(got, expected);
  }
  while (!choice.empty() && !shelf.entries.empty()) {
    seekjpeg::Entry& entry = shelf.entries[choice.take<std::uint8_t>() % shelf.entries.size()];
    entry.low ^= choice.take<std::uint16_t>();
    entry.high ^= choice.take<std::uint8_t>();
    entry.dc[choice.take<std::uint8_t>() % 3] = choice.take<std::int16_t>();
    RgbView got;
    own_arena.reset(kMemory);
    (void)own.pixels(bytes, whole, box, own_arena, got, &shelf);
  }
  return 0;
}
