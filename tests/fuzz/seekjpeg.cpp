// SPDX-License-Identifier: Apache-2.0
// A JPEG, and by its last four bytes a box of it. What the own decoder takes, libjpeg-turbo takes too, with the same
// pixels; and it reads and writes nothing but its own.
#include <cstring>

#include "producers/decode/arena.hpp"
#include "producers/decode/jpeg.hpp"
#include "producers/decode/seekjpeg/crop_decoder.hpp"
#include "tests/support/fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  static JpegDecoder libjpeg;
  static seekjpeg::CropDecoder own;
  static Arena own_arena;
  static Arena arena;
  constexpr std::size_t kMemory = std::size_t{1} << 27;
  const std::span<const std::uint8_t> bytes(data, size);
  test::FuzzInput choice(data + size - std::min<std::size_t>(size, 4), std::min<std::size_t>(size, 4));
  arena.reset(kMemory);
  Size whole;
  if (libjpeg.header(bytes, arena, whole) || std::int64_t{whole.width} * whole.height > 100'000) return 0;
  Box box{choice.take<std::uint8_t>() % whole.width, choice.take<std::uint8_t>() % whole.height, 1, 1};
  box.width += choice.take<std::uint8_t>() % (whole.width - box.x);
  box.height += choice.take<std::uint8_t>() % (whole.height - box.y);
  for (const Box part : {Box{0, 0, whole.width, whole.height}, box}) {
    RgbView got;
    own_arena.reset(kMemory);
    if (!own.pixels(bytes, whole, part, own_arena, got)) continue;
    RgbView expected;
    arena.reset(kMemory);
    test::fuzz_require(!libjpeg.pixels(bytes, whole, part, false, arena, expected));
    test::fuzz_require(got.size == expected.size);
    for (std::int32_t y = 0; y < part.height; ++y) {
      const auto row = static_cast<std::size_t>(y);
      test::fuzz_require(std::memcmp(got.data + got.stride * row, expected.data + expected.stride * row,
                                     std::size_t{3} * static_cast<std::size_t>(part.width)) == 0);
    }
  }
  return 0;
}
