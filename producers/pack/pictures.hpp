// SPDX-License-Identifier: Apache-2.0
// Pictures out of arrays, as what a pack is made of. Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "producers/pack/source.hpp"

namespace feedring::pack {

/// Writes a picture's file into `file`. Throws Error(kData).
using WritePicture = std::function<void(std::uint64_t picture, std::string& file)>;

class Pictures : public Source {
 public:
  /// `origin`: the file that they lie in. `labels`: the class of each picture, as a number in `classes`. `extension`:
  /// with its dot.
  Pictures(std::filesystem::path origin, std::vector<std::string> classes, const std::vector<std::uint32_t>& labels,
           std::uint64_t bytes_each, std::string extension, WritePicture write);

  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }
  [[nodiscard]] std::uint64_t items() const override { return order_.size(); }
  [[nodiscard]] std::uint32_t label(std::uint64_t number) const override { return order_.at(number).label; }
  [[nodiscard]] std::uint64_t bytes() const override { return order_.size() * bytes_each_; }
  [[nodiscard]] std::string name(std::uint64_t number) override;
  [[nodiscard]] std::span<const std::uint8_t> read(std::uint64_t number) override;
  [[nodiscard]] std::filesystem::path origin(std::uint64_t /*number*/) const override { return origin_; }

 private:
  struct Place {
    std::uint32_t label;
    std::uint64_t picture;
  };
  std::filesystem::path origin_;
  std::vector<std::string> classes_;
  std::vector<Place> order_;
  std::uint64_t bytes_each_;
  std::string extension_;
  WritePicture write_;
  Names names_;
  std::string file_;
};

/// How the numbers of a picture lie.
enum class Order : std::uint8_t { kRgb, kBgr, kPlanes };

/// Three channels of 8 bits as a PPM file. `pixels` has as many bytes.
void write_ppm(std::string& file, std::string_view pixels, std::uint64_t height, std::uint64_t width, Order order);

/// One channel of 8 bits as a PGM file. `pixels` has as many bytes.
void write_pgm(std::string& file, std::string_view pixels, std::uint64_t height, std::uint64_t width);

/// Classes by whole numbers, of any size: named by them and numbered in their order. `labels` become class numbers.
[[nodiscard]] std::vector<std::string> classes_of(const std::vector<std::int64_t>& numbers,
                                                  std::vector<std::uint32_t>& labels);

}  // namespace feedring::pack
