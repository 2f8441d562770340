// SPDX-License-Identifier: Apache-2.0
// Small numbers in arguments: "224", "320x240", "8,8,64,48", "10:20".
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace feedring::cli {

/// The whole text as one number without sign; nullopt otherwise.
template <class Unsigned>
[[nodiscard]] std::optional<Unsigned> number_of(std::string_view text) noexcept {
  Unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  return number;
}

/// Numbers from 0 to 2^31 - 1 with `separator` between them, or nullopt.
[[nodiscard]] inline std::optional<std::vector<std::int32_t>> numbers_of(std::string_view text, char separator) {
  std::vector<std::int32_t> numbers;
  while (true) {
    const std::size_t end = text.find(separator);
    const auto number = number_of<std::uint32_t>(text.substr(0, end));
    if (!number || *number > INT32_MAX) return std::nullopt;
    numbers.push_back(static_cast<std::int32_t>(*number));
    if (end == std::string_view::npos) return numbers;
    text.remove_prefix(end + 1);
  }
}

}  // namespace feedring::cli
