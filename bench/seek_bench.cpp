// SPDX-License-Identifier: Apache-2.0
// seek-bench DIR [ROUNDS [EVERY]]: the own JPEG decoder beside libjpeg-turbo's full decode and beside our crops with
// libjpeg-turbo. RandomResizedCrop's boxes, the same for all; in turn file by file, in an order that rotates; processor
// time. Prints for each the median of the rounds' sums over the files, and the rounds' ratios of the full decode to it:
// median, least, largest. Files that the own decoder leaves to libjpeg count for it with what libjpeg's crop took.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <vector>

#include "bench/jpeg_yardstick.hpp"
#include "producers/decode/arena.hpp"
#include "producers/decode/jpeg.hpp"
#include "producers/decode/seekjpeg/crop_decoder.hpp"

namespace feedring {
namespace {

using bench::Bytes;
using bench::full_decode;

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// torchvision's RandomResizedCrop with its defaults.
Box random_resized_crop(std::mt19937& rng, Size size) {
  const auto uniform = [&](double low, double high) { return low + (high - low) * (rng() / 4294967296.0); };
  for (int i = 0; i < 10; ++i) {
    const double area = double(size.width) * size.height * uniform(0.08, 1);
    const double ratio = std::exp(uniform(std::log(3.0 / 4), std::log(4.0 / 3)));
    const auto width = static_cast<std::int32_t>(std::lround(std::sqrt(area * ratio)));
    const auto height = static_cast<std::int32_t>(std::lround(std::sqrt(area / ratio)));
    if (width < 1 || height < 1 || width > size.width || height > size.height) continue;
    return {static_cast<std::int32_t>(rng() % static_cast<unsigned>(size.width - width + 1)),
            static_cast<std::int32_t>(rng() % static_cast<unsigned>(size.height - height + 1)), width, height};
  }
  return {0, 0, size.width, size.height};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool same(const RgbView& view, const Bytes& whole, Size size, Box box) {
  for (std::int32_t y = 0; y < box.height; ++y) {
    const std::size_t at = 3 * (static_cast<std::size_t>(box.y + y) * static_cast<std::size_t>(size.width) +
                                static_cast<std::size_t>(box.x));
    if (std::memcmp(view.data + view.stride * static_cast<std::size_t>(y), whole.data() + at,
                    3 * static_cast<std::size_t>(box.width)) != 0) {
      return false;
    }
  }
  return true;
}

constexpr std::size_t kModes = 5;
constexpr const char* kNames[kModes] = {"libjpeg-turbo, whole", "libjpeg-turbo, crop", "own, to the crop's end",
                                        "own, making the index", "own, by the index"};

/// The index of one file.
class OneShelf : public seekjpeg::Shelf {
 public:
  std::span<const seekjpeg::Entry> find(std::size_t) override {
    return is_making ? std::span<const seekjpeg::Entry>{} : entries_;
  }
  bool wants(std::size_t) override { return is_making; }
  void keep(std::span<const seekjpeg::Entry> entries) override { entries_.assign(entries.begin(), entries.end()); }
  bool is_making = true;

 private:
  std::vector<seekjpeg::Entry> entries_;
};
constexpr std::size_t kMemory = std::size_t{1} << 30;

int run(const std::vector<Bytes>& files, int rounds) {
  JpegDecoder libjpeg;
  seekjpeg::CropDecoder own;
  std::array<Arena, kModes> arena;
  std::vector<OneShelf> shelves(files.size());
  Bytes whole;
  std::mt19937 rng(1);
  std::array<std::vector<double>, kModes> sums;
  std::size_t left_out = 0;
  std::size_t differ = 0;
  for (int round = -1; round < rounds; ++round) {  // the first one warms up and makes indices; two are compared
    std::array<double, kModes> sum{};
    for (std::size_t i = 0; i < files.size(); ++i) {
      Size size;
      arena[0].reset(kMemory);
      if (libjpeg.header(files[i], arena[0], size)) continue;
      const Box box = random_resized_crop(rng, size);
      std::array<double, kModes> took{};
      std::array<RgbView, kModes> view;
      std::array<bool, kModes> is_own{};
      for (std::size_t turn = 0; turn < kModes; ++turn) {
        const std::size_t mode = (turn + i + static_cast<std::size_t>(round + 1)) % kModes;
        shelves[i].is_making = mode == 3;
        const double begin = cpu_us();
        if (mode == 0) {
          full_decode(files[i], whole);
        } else {
          arena[mode].reset(kMemory);
          is_own[mode] =
              mode == 1 ? !libjpeg.pixels(files[i], size, box, false, arena[1], view[1])
                        : own.pixels(files[i], size, box, arena[mode], view[mode], mode == 2 ? nullptr : &shelves[i]);
        }
        took[mode] = cpu_us() - begin;
      }
      for (std::size_t mode = 0; mode < kModes; ++mode) {
        if (mode > 1 && !is_own[mode]) took[mode] += took[1];
        sum[mode] += took[mode];
        if (round > 0 || mode < 2) continue;
        left_out += is_own[mode] ? 0 : 1;
        if (is_own[mode] && !same(view[mode], whole, size, box)) ++differ;
      }
    }
    if (round < 0) continue;
    for (std::size_t mode = 0; mode < kModes; ++mode) sums[mode].push_back(sum[mode] / double(files.size()));
  }
  std::printf("%zu files; in two rounds %zu boxes left to libjpeg, %zu differ\n", files.size(), left_out, differ);
  for (std::size_t mode = 0; mode < kModes; ++mode) {
    std::vector<double> ratios;
    for (std::size_t r = 0; r < sums[mode].size(); ++r) ratios.push_back(sums[0][r] / sums[mode][r]);
    std::printf("%-22s %8.1f us  %5.2f [%.2f %.2f]\n", kNames[mode], median(sums[mode]), median(ratios),
                *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()));
  }
  return differ == 0 ? 0 : 1;
}

}  // namespace
}  // namespace feedring

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: seek-bench DIR [ROUNDS [EVERY]]\n", stderr);
    return 2;
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const auto every = static_cast<std::size_t>(argc > 3 ? std::atoi(argv[3]) : 1);
  return feedring::run(feedring::bench::read_all(argv[1], std::max<std::size_t>(every, 1)), rounds);
}
