// SPDX-License-Identifier: Apache-2.0
// A sample's files as a feed with views takes them: a picture of any format, of which two views are made, and its mask,
// to which the second one's geometry happens. The last two bytes choose the random numbers; the two before them say how
// many bytes are the picture's.
#include <vector>

#include "producers/transform/mask.hpp"
#include "producers/transform/views.hpp"
#include "tests/support/fuzz_input.hpp"

namespace {

using namespace feedring;

Pipeline pipeline(const char* steps) {
  Chain chain = Chain::parse(nlohmann::json::parse(steps));
  const Dtype dtype = chain.slot_dtype(Dtype::kUint8);
  return Pipeline(std::move(chain), dtype, Layout::kNchw);
}

Views make_views() {
  std::vector<Views::Group> groups;
  groups.push_back({"global", 1, pipeline(R"([{"name": "RandomResizedCrop", "size": [5, 9]},
                                             {"name": "ToDtype", "dtype": "float16", "scale": true}])")});
  groups.push_back(
      {"local", 2, pipeline(R"([{"name": "RandomCrop", "size": [6, 3], "padding": 2, "pad_if_needed": true},
                                            {"name": "RandomRotation", "degrees": 30},
                                            {"name": "RandomHorizontalFlip"}])")});
  return Views(std::move(groups));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Decoder decoder;
  static Views views = make_views();
  static MaskMaker masks;
  constexpr std::uint64_t kMaxPixels = 40'000;
  if (size < 4) return 0;
  const std::span<const std::uint8_t> files(data, size - 4);
  test::FuzzInput choice(data + size - 4, 4);
  const std::size_t first = std::min<std::size_t>(choice.take<std::uint16_t>(), files.size());
  const auto seed = choice.take<std::uint16_t>();
  // Each of its own memory, so that a byte behind it is found.
  std::vector<std::vector<std::uint8_t>> outs;
  std::vector<Shot> shots;
  for (const Views::Group& group : views.groups()) {
    for (std::uint32_t i = 0; i < group.count; ++i) outs.emplace_back(group.pipeline.bytes_per_image());
  }
  for (std::size_t i = 0; i < outs.size(); ++i) shots.push_back({Draw(seed, 0, i, Stream::kAugment), outs[i]});
  if (const Fault fault = views.run(files.first(first), decoder, shots, kMaxPixels))
    test::fuzz_require(!fault->empty());

  Pipeline& second = views.groups()[1].pipeline;
  if (second.run(files.first(first), decoder, shots[1].random, kMaxPixels, outs[1].data())) return 0;
  std::vector<std::uint8_t> mask(second.bytes_per_image() / 3);
  if (const Fault fault = masks.run(files.subspan(first), decoder, second.drawn(), kMaxPixels, mask))
    test::fuzz_require(!fault->empty());
  return 0;
}
