// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/bmp_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "producers/decode/arena.hpp"
#include "producers/decode/pixels.hpp"

namespace feedring {
namespace {

class Unpacker {
 public:
  Unpacker(std::span<const std::uint8_t> file, std::size_t at, bool nibbles, std::size_t width, std::uint8_t* pixels,
           std::size_t count)
      : file_(file), at_(std::min(at, file.size())), nibbles_(nibbles), width_(width), pixels_(pixels), count_(count) {}

  /// Pixels written when the runs ended.
  std::size_t run() {
    while (done_ < count_ && file_.size() - at_ >= 2) {
      const std::uint8_t length = file_[at_];
      const std::uint8_t value = file_[at_ + 1];
      at_ += 2;
      if (length > 0) {
        repeat(value, length);
      } else if (value == 0) {
        skip(done_ % width_ == 0 ? 0 : width_ - done_ % width_);
        column_ = 0;
      } else if (value == 1) {
        break;
      } else if (value == 2) {
        if (file_.size() - at_ < 2) break;
        skip(file_[at_] + file_[at_ + 1] * width_);
        at_ += 2;
        column_ = done_ % width_;
      } else if (!copy(value)) {
        break;
      }
    }
    return done_;
  }

 private:
  void repeat(std::uint8_t value, std::size_t length) {
    length = std::min(length, width_ - std::min(column_, width_));
    for (std::size_t i = 0; i < length; ++i) put(nibbles_ ? (i % 2 == 0 ? value >> 4 : value & 15) : value);
    column_ += length;
  }

  bool copy(std::size_t length) {
    const std::size_t wanted = std::min(count_ - done_, length);
    const std::size_t bytes = nibbles_ ? (wanted + 1) / 2 : wanted;
    const std::size_t there = std::min(bytes, file_.size() - at_);
    for (std::size_t i = 0; i < there; ++i, ++at_) {
      if (!nibbles_) {
        put(file_[at_]);
        continue;
      }
      put(file_[at_] >> 4);
      if (2 * i + 1 < wanted) put(file_[at_] & 15);
    }
    if (there < bytes || done_ == count_) return false;
    column_ += length;
    if (at_ % 2 != 0) ++at_;  // to the next 16 bit word
    at_ = std::min(at_, file_.size());
    return true;
  }

  void put(int index) {
    if (done_ < count_) pixels_[done_++] = static_cast<std::uint8_t>(index);
  }
  void skip(std::size_t pixels) { done_ += std::min(pixels, count_ - done_); }

  std::span<const std::uint8_t> file_;
  std::size_t at_;
  bool nibbles_;
  std::size_t width_;
  std::uint8_t* pixels_;
  std::size_t count_;
  std::size_t done_ = 0;
  std::size_t column_ = 0;
};

}  // namespace

Fault unpack_bmp_runs(std::span<const std::uint8_t> file, std::size_t at, bool nibbles, Size size, bool accept_damaged,
                      Arena& arena, std::span<const std::uint8_t>& indices) {
  const auto width = static_cast<std::size_t>(size.width);
  const std::size_t count = width * static_cast<std::size_t>(size.height);
  auto* pixels = static_cast<std::uint8_t*>(arena.take(count));
  if (pixels == nullptr) return no_memory(size);
  std::memset(pixels, 0, count);
  const std::size_t done = Unpacker(file, at, nibbles, width, pixels, count).run();
  if (done < count && !accept_damaged) {
    return fmt::format("truncated BMP: the run lengths end after {} of {} pixels", done, count);
  }
  indices = {pixels, count};
  return std::nullopt;
}

}  // namespace feedring
