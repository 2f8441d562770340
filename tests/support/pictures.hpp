// SPDX-License-Identifier: Apache-2.0
// Pictures in tests of decoders: whole decodes, boxes, files by format, and Pillow as the judge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "producers/decode/decoder.hpp"
#include "tests/support/shared_data.hpp"

namespace feedring::test {

/// Sanitizers keep freed memory and shadows of it: what a test says about memory then holds with this much to spare.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderSanitizer = true;
#else
inline constexpr bool kUnderSanitizer = false;
#endif
inline constexpr std::int64_t kMemoryToSpare = kUnderSanitizer ? std::int64_t{256} << 20 : 0;

inline constexpr std::uint64_t kMaxPixels = 178'956'970;  // where Pillow refuses a file, too

struct Picture {
  Size size;
  std::vector<std::uint8_t> rgb;
  bool operator==(const Picture&) const = default;
};

inline Picture copy_of(const RgbView& view) {
  Picture picture{view.size, {}};
  for (std::int32_t y = 0; y < view.size.height; ++y) {
    const std::uint8_t* row = view.data + view.stride * y;
    picture.rgb.insert(picture.rgb.end(), row, row + std::size_t{3} * view.size.width);
  }
  return picture;
}

inline Fault decode_whole(Decoder& decoder, std::span<const std::uint8_t> bytes, Picture& out) {
  ImageInfo info;
  if (Fault fault = decoder.probe(bytes, kMaxPixels, info)) return fault;
  RgbView view;
  if (Fault fault = decoder.decode(bytes, info, {0, 0, info.size.width, info.size.height}, view)) return fault;
  out = copy_of(view);
  return std::nullopt;
}

/// "" when the decoder gives exactly `whole`'s pixels of the box, else what differs.
inline std::string box_differs(Decoder& decoder, std::span<const std::uint8_t> bytes, const ImageInfo& info,
                               const Picture& whole, Box box) {
  const std::string name = " in box " + std::to_string(box.x) + "," + std::to_string(box.y) + " " +
                           std::to_string(box.width) + "x" + std::to_string(box.height) + " of " +
                           std::to_string(whole.size.width) + "x" + std::to_string(whole.size.height);
  RgbView view;
  if (Fault fault = decoder.decode(bytes, info, box, view)) return *fault + name;
  if (view.size != Size{box.width, box.height} || view.stride < std::size_t{3} * box.width) return "bad view" + name;
  for (std::int32_t y = 0; y < box.height; ++y) {
    const std::size_t from = (std::size_t{3} * (box.y + y)) * whole.size.width + std::size_t{3} * box.x;
    if (std::memcmp(view.data + view.stride * y, whole.rgb.data() + from, std::size_t{3} * box.width) != 0) {
      return "other pixels in row " + std::to_string(y) + name;
    }
  }
  return "";
}

inline std::string box_differs(Decoder& decoder, std::span<const std::uint8_t> bytes, Format format,
                               const Picture& whole, Box box) {
  return box_differs(decoder, bytes, ImageInfo{format, whole.size}, whole, box);
}

/// A box inside `size`: any, or one of few columns or rows, often at an edge of the image or of an MCU.
inline Box random_box(std::mt19937& rng, Size size) {
  auto draw = [&](std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(rng() % static_cast<std::uint32_t>(high - low + 1));
  };
  Box box;
  box.width = draw(1, rng() % 3 == 0 ? std::min(size.width, 6) : size.width);
  box.height = draw(1, rng() % 3 == 0 ? std::min(size.height, 6) : size.height);
  box.x = draw(0, size.width - box.width);
  box.y = draw(0, size.height - box.height);
  switch (rng() % 6) {
    case 0: box.x = size.width - box.width; break;
    case 1: box.y = size.height - box.height; break;
    case 2: box.x = box.x / 8 * 8; break;
    case 3: box.y = box.y / 8 * 8; break;
    default: break;
  }
  return box;
}

/// All files below the folders whose content is of the format, sorted by name.
inline std::vector<std::filesystem::path> files_of(const std::vector<std::filesystem::path>& folders, Format format) {
  std::vector<std::filesystem::path> found;
  for (const auto& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && sniff(read_file(entry.path())) == format) found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Pillow's verdict and pixels for a list of files, one after the other (tests/support/pillow_reference.py).
class Pillow {
 public:
  static bool is_installed() { return std::system((script() + " --version > /dev/null").c_str()) == 0; }
  /// Whether it is the current release, in the environment that ./dev test makes, and not Debian's.
  static bool is_current() { return python() != kDebians && is_installed(); }

  /// `options` are the script's.
  explicit Pillow(const std::vector<std::filesystem::path>& files, const std::string& options = "") {
    list_ = std::filesystem::temp_directory_path() / ("feedring-pillow-" + std::to_string(getpid()));
    std::ofstream list(list_);
    for (const auto& file : files) list << file.string() << '\n';
    list.close();
    pipe_ = popen((script() + ' ' + options + " 2> /dev/null < '" + list_.string() + "'").c_str(), "r");
  }
  ~Pillow() {
    if (pipe_ != nullptr) pclose(pipe_);
    std::filesystem::remove(list_);
  }
  Pillow(const Pillow&) = delete;
  Pillow& operator=(const Pillow&) = delete;

  /// Of the next file of the list.
  Fault next(Picture& out) {
    char line[4096];
    if (pipe_ == nullptr || std::fgets(line, sizeof line, pipe_) == nullptr) return "the script ended early";
    std::istringstream words(line);
    std::string verdict;
    Size size;
    if (!(words >> verdict >> size.width >> size.height) || verdict != "ok") return std::string(line);
    out = {size, std::vector<std::uint8_t>(std::size_t{3} * size.width * size.height)};
    if (std::fread(out.rgb.data(), 1, out.rgb.size(), pipe_) != out.rgb.size()) return "the script ended early";
    return std::nullopt;
  }

 private:
  // Debian's Pillow belongs to Debian's Python, which need not be the first one on the path.
  static constexpr const char* kDebians = "/usr/bin/python3";

 public:
  /// The interpreter that has the current Pillow, else Debian's.
  static std::string python() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const std::filesystem::path folder =
        (cache != nullptr ? std::filesystem::path(cache)
                          : std::filesystem::path(home != nullptr ? home : "/") / ".cache") /
        "feedring/pillow";
    return std::filesystem::exists(folder / ".ready") ? folder / "bin/python" : kDebians;
  }

 private:
  static std::string script() { return python() + " '" + FEEDRING_SOURCE_DIR + "/tests/support/pillow_reference.py'"; }

  std::filesystem::path list_;
  std::FILE* pipe_ = nullptr;
};

/// Resident memory of this process, in bytes.
inline std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace feedring::test
