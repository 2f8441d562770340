// SPDX-License-Identifier: Apache-2.0
// The numbers of PNM headers and plain rasters: apart by white space, with comments from '#' to the end of the line.
// Internal to this folder.
#pragma once

#include <cstdint>
#include <span>

namespace feedring {

class PnmTokens {
 public:
  explicit PnmTokens(std::span<const std::uint8_t> text) noexcept : text_(text) {}

  /// The next number, of 10 digits at most, and the one white space behind it. False at the end and where there is
  /// something else.
  bool number(std::uint32_t& out) noexcept {
    skip();
    std::uint64_t value = 0;
    int digits = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (++digits > 10) return false;
      value = value * 10 + (text_[at_] - '0');
    }
    if (digits == 0 || value > UINT32_MAX) return false;
    if (at_ < text_.size()) {
      if (text_[at_] != '#' && !is_space(text_[at_])) return false;
      if (is_space(text_[at_])) ++at_;
    }
    out = static_cast<std::uint32_t>(value);
    return true;
  }

  /// The next 0 or 1, which need no white space between them.
  bool bit(std::uint32_t& out) noexcept {
    skip();
    if (at_ == text_.size() || (text_[at_] != '0' && text_[at_] != '1')) return false;
    out = text_[at_++] - '0';
    return true;
  }

  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }

 private:
  static bool is_space(std::uint8_t c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

  void skip() noexcept {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
      } else if (is_space(text_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::span<const std::uint8_t> text_;
  std::size_t at_ = 0;
};

}  // namespace feedring
