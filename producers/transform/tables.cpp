// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/tables.hpp"

#include <algorithm>

#include "producers/transform/blend.hpp"
#include "producers/transform/gray.hpp"

namespace feedring {
namespace {

using Histogram = std::array<std::int64_t, 256>;

template <class Value>
Table table(Value value) {
  Table made{};
  for (int v = 0; v < 256; ++v) made[static_cast<std::size_t>(v)] = static_cast<std::uint8_t>(value(v));
  return made;
}

Table unchanged() {
  return table([](int v) { return v; });
}

Tables everywhere(const Table& table) { return {table, table, table}; }

template <class Visit>
void each_pixel(const RgbPixels& image, Visit visit) {
  for (std::int32_t y = 0; y < image.size.height; ++y) {
    const std::uint8_t* pixel = image.data + static_cast<std::size_t>(y) * image.stride;
    for (std::int32_t x = 0; x < image.size.width; ++x, pixel += 3) visit(pixel);
  }
}

std::array<Histogram, 3> histograms(const RgbPixels& image) {
  std::array<Histogram, 3> counts{};
  each_pixel(image, [&](const std::uint8_t* pixel) {
    for (std::size_t c = 0; c < 3; ++c) ++counts[c][pixel[c]];
  });
  return counts;
}

// ImageOps.autocontrast: the darkest value becomes 0, the lightest 255.
Table stretched(const Histogram& counts) {
  int low = 0;
  int high = 255;
  while (low < 255 && counts[static_cast<std::size_t>(low)] == 0) ++low;
  while (high > 0 && counts[static_cast<std::size_t>(high)] == 0) --high;
  if (high <= low) return unchanged();
  const double scale = 255.0 / (high - low);
  const double offset = -low * scale;
  return table([&](int v) { return std::clamp(static_cast<int>(v * scale + offset), 0, 255); });
}

// ImageOps.equalize: each value becomes its rank among the pixels.
Table equalized(const Histogram& counts) {
  std::int64_t sum = 0;
  std::int64_t last = 0;
  int different = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    sum += count;
    last = count;
    ++different;
  }
  const std::int64_t step = (sum - last) / 255;
  if (different <= 1 || step == 0) return unchanged();
  std::int64_t n = step / 2;
  Table made{};
  for (std::size_t v = 0; v < 256; ++v) {
    made[v] = static_cast<std::uint8_t>(std::min<std::int64_t>(n / step, 255));
    n += counts[v];
  }
  return made;
}

// The mean of the gray image, rounded, from which ImageEnhance.Contrast goes.
int mean_gray(const RgbPixels& image) {
  std::int64_t sum = 0;
  each_pixel(image, [&](const std::uint8_t* pixel) { sum += gray_of(pixel); });
  const auto pixels = static_cast<double>(std::int64_t{image.size.width} * image.size.height);
  return static_cast<int>(static_cast<double>(sum) / pixels + 0.5);
}

Table blended(int from, double factor) {
  return table([&](int v) { return blend(from, v, static_cast<float>(factor)); });
}

}  // namespace

std::optional<Tables> tables_of(const Operation& operation, const RgbPixels& image) {
  const double amount = operation.amount;
  switch (operation.kind) {
    case Operation::Kind::kSolarize: return everywhere(table([&](int v) { return v < amount ? v : 255 - v; }));
    case Operation::Kind::kInvert: return everywhere(table([](int v) { return 255 - v; }));
    case Operation::Kind::kPosterize: {
      const int dropped = (1 << (8 - static_cast<int>(amount))) - 1;
      return everywhere(table([&](int v) { return v & ~dropped; }));
    }
    case Operation::Kind::kBrightness: return everywhere(blended(0, amount));
    case Operation::Kind::kContrast: return everywhere(blended(mean_gray(image), amount));
    case Operation::Kind::kAutoContrast: {
      const std::array<Histogram, 3> counts = histograms(image);
      return Tables{stretched(counts[0]), stretched(counts[1]), stretched(counts[2])};
    }
    case Operation::Kind::kEqualize: {
      const std::array<Histogram, 3> counts = histograms(image);
      return Tables{equalized(counts[0]), equalized(counts[1]), equalized(counts[2])};
    }
    default: return std::nullopt;
  }
}

void replace(const RgbPixels& image, const Tables& tables) noexcept {
  for (std::int32_t y = 0; y < image.size.height; ++y) {
    std::uint8_t* pixel = image.data + static_cast<std::size_t>(y) * image.stride;
    for (std::int32_t x = 0; x < image.size.width; ++x, pixel += 3) {
      for (std::size_t c = 0; c < 3; ++c) pixel[c] = tables[c][pixel[c]];
    }
  }
}

}  // namespace feedring
