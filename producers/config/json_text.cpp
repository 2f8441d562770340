// SPDX-License-Identifier: Apache-2.0
#include "producers/config/json_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace feedring {
namespace {

struct Sequence {
  std::size_t length;  ///< bytes looked at: a whole character, or the maximal part of an ill-formed one; at least 1
  bool well_formed;
};

// One character from the front of `text`, which is not empty (Unicode 15, table 3-7 and "U+FFFD substitution of maximal
// subparts").
Sequence first_character(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = at(0);
  if (lead < 0x80) return {1, true};
  std::size_t follow = 0;
  std::uint8_t low = 0x80;  // the bounds of the second byte, which rule out overlong forms and surrogates
  std::uint8_t high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    follow = 1;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    follow = 2;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    follow = 3;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  for (std::size_t i = 1; i <= follow; ++i) {
    if (i == text.size() || at(i) < low || at(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {follow + 1, true};
}

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const Sequence sequence = first_character(bytes);
    if (!sequence.well_formed) return false;
    bytes.remove_prefix(sequence.length);
  }
  return true;
}

std::string to_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Sequence sequence = first_character(bytes);
    text += sequence.well_formed ? bytes.substr(0, sequence.length) : std::string_view("\xEF\xBF\xBD");
    bytes.remove_prefix(sequence.length);
  }
  return text;
}

template <class Json>
void put_bytes(Json& object, const std::string& key, std::string_view bytes) {
  object[key] = to_utf8(bytes);
  if (is_utf8(bytes)) return;
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<std::uint8_t>(c) >> 4];
    hex += kDigits[static_cast<std::uint8_t>(c) & 15];
  }
  object[key + "_hex"] = hex;
}

template void put_bytes(nlohmann::json&, const std::string&, std::string_view);
template void put_bytes(nlohmann::ordered_json&, const std::string&, std::string_view);

std::optional<std::string> get_bytes(const nlohmann::json& object, const std::string& key) {
  const auto text = object.find(key);
  if (text == object.end() || !text->is_string()) return std::nullopt;
  const auto hex = object.find(key + "_hex");
  if (hex == object.end()) return text->get<std::string>();
  if (!hex->is_string()) return std::nullopt;
  const auto& digits = hex->get_ref<const std::string&>();
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::size_t high = kDigits.find(digits[i]);
    const std::size_t low = kDigits.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

}  // namespace feedring
