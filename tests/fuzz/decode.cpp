// SPDX-License-Identifier: Apache-2.0
// A picture of any format: its last six bytes choose how it is read, and a box of it. The corpus is also the data set
// of other targets.
#include <numeric>

#include "producers/decode/decoder.hpp"
#include "tests/support/fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  static Decoder decoder;  // the memory of one picture serves the next
  const std::span<const std::uint8_t> bytes(data, size);
  test::FuzzInput choice(data + size - std::min<std::size_t>(size, 6), std::min<std::size_t>(size, 6));
  DecodeOptions options;
  options.accept_damaged = choice.take<std::uint8_t>() % 2 != 0;
  options.exif_orientation = options.accept_damaged;
  if (choice.take<std::uint8_t>() % 2 != 0) options.background = Rgb{10, 200, 77};
  ImageInfo info;
  if (const Fault fault = decoder.probe(bytes, 40'000, info, options)) {
    test::fuzz_require(!fault->empty());
    return 0;
  }
  const auto [width, height] = info.size;
  Box box{choice.take<std::uint8_t>() % width, choice.take<std::uint8_t>() % height, 1, 1};
  box.width += choice.take<std::uint8_t>() % (width - box.x);
  box.height += choice.take<std::uint8_t>() % (height - box.y);
  for (const Box part : {Box{0, 0, width, height}, box}) {
    RgbView view;
    if (decoder.decode(bytes, info, part, view)) continue;
    test::fuzz_require(view.size.width == part.width && view.size.height == part.height);
    const std::uint8_t* last_row = view.data + view.stride * (view.size.height - 1);
    const std::uint8_t* end = last_row + std::size_t{3} * static_cast<std::size_t>(view.size.width) + kSlack;
    test::fuzz_require(std::accumulate(view.data, end, std::uint64_t{0}) != ~std::uint64_t{0});
  }
  return 0;
}
