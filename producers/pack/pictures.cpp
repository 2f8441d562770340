// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace feedring::pack {

Pictures::Pictures(std::filesystem::path origin, std::vector<std::string> classes,
                   const std::vector<std::uint32_t>& labels, std::uint64_t bytes_each, std::string extension,
                   WritePicture write)
    : origin_(std::move(origin)),
      classes_(std::move(classes)),
      bytes_each_(bytes_each),
      extension_(std::move(extension)),
      write_(std::move(write)) {
  for (std::uint64_t picture = 0; picture < labels.size(); ++picture) order_.push_back({labels[picture], picture});
  std::stable_sort(order_.begin(), order_.end(), [](const Place& a, const Place& b) { return a.label < b.label; });
}

std::string Pictures::name(std::uint64_t number) {
  const Place& place = order_.at(number);
  return names_.name_of(classes_.at(place.label), fmt::format("{:08}{}", place.picture, extension_), number);
}

std::span<const std::uint8_t> Pictures::read(std::uint64_t number) {
  write_(order_.at(number).picture, file_);
  return {reinterpret_cast<const std::uint8_t*>(file_.data()), file_.size()};
}

void write_ppm(std::string& file, std::string_view pixels, std::uint64_t height, std::uint64_t width, Order order) {
  file = fmt::format("P6\n{} {}\n255\n", width, height);
  const std::size_t begin = file.size();
  file.append(pixels);
  if (order == Order::kRgb) return;
  const std::uint64_t count = height * width;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint64_t c = 0; c < 3; ++c) {
      file[begin + 3 * i + c] = order == Order::kPlanes ? pixels[c * count + i] : pixels[3 * i + 2 - c];
    }
  }
}

void write_pgm(std::string& file, std::string_view pixels, std::uint64_t height, std::uint64_t width) {
  file = fmt::format("P5\n{} {}\n255\n", width, height);
  file.append(pixels);
}

std::vector<std::string> classes_of(const std::vector<std::int64_t>& numbers, std::vector<std::uint32_t>& labels) {
  std::map<std::int64_t, std::uint32_t> known;
  for (const std::int64_t number : numbers) known.emplace(number, 0);
  std::vector<std::string> classes;
  for (auto& [number, label] : known) {
    label = static_cast<std::uint32_t>(classes.size());
    classes.push_back(std::to_string(number));
  }
  for (const std::int64_t number : numbers) labels.push_back(known.at(number));
  return classes;
}

}  // namespace feedring::pack
