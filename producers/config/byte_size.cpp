// SPDX-License-Identifier: Apache-2.0
#include "producers/config/byte_size.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace feedring {

std::optional<std::uint64_t> parse_byte_size(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 9> kUnits{{{"b", 1},
                                                                              {"kib", 0x1p10},
                                                                              {"mib", 0x1p20},
                                                                              {"gib", 0x1p30},
                                                                              {"tib", 0x1p40},
                                                                              {"kb", 1e3},
                                                                              {"mb", 1e6},
                                                                              {"gb", 1e9},
                                                                              {"tb", 1e12}}};
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  double amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::string unit(text.empty() ? "b" : text);
  for (char& c : unit) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [name, factor] : kUnits) {
    if (name != unit) continue;
    const double bytes = std::floor(amount * factor);
    if (!(bytes >= 1 && bytes < 0x1p63)) return std::nullopt;
    return static_cast<std::uint64_t>(bytes);
  }
  return std::nullopt;
}

}  // namespace feedring
